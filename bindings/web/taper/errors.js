// What goes wrong, as an exception.

// `code` is the name of a code of taper/taper.h ("InvalidArgument"); `message` is the text that the
// command line prints, too.
export class TaperError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "TaperError";
    this.code = code;
  }
}
