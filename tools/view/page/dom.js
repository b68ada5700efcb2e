// Elements of the page. Texts of the model become text nodes, so that they cannot become markup.
"use strict";

// element("button", { class: "link", onclick: f }, "text", child...)
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false)
      made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

// A button that looks like text.
function link(text, onclick, attributes = {}) {
  return element("button", { class: "link", type: "button", onclick, ...attributes }, text);
}

// A bar for a share from 0 to 1.
function bar(share, colour) {
  const inner = element("span", { class: "bar-fill" });
  inner.style.width = `${Math.round(100 * Math.min(1, Math.max(0, share)))}%`;
  if (colour) inner.style.background = colour;
  return element("span", { class: "bar", "aria-hidden": "true" }, inner);
}

// A list of names and contents; rows without content are left out.
function rows(pairs) {
  const list = element("dl", { class: "rows" });
  for (const [name, content] of pairs) {
    if (content === "" || content === null || content === undefined) continue;
    list.append(element("dt", {}, name), element("dd", {}, content));
  }
  return list;
}
