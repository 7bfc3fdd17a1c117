// What the kernel hands to the page's machine: files to save, and text for the clipboard.

const make = (tag, name, text) => {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
};

// JupyterLab looks at every key before anybody else and would take those of a panel's menus, buttons and sliders for its
// cells; from an element that is marked so it does not. Ctrl, Alt and Meta remain its own: Ctrl+S saves from anywhere.
if (!window.expandlabKeepsKeys) {
  window.expandlabKeepsKeys = true;
  window.addEventListener("keydown", (event) => {
    if (!event.target.closest?.(".xl-panel")) return;
    event.target.toggleAttribute("data-lm-suppress-shortcuts", !(event.ctrlKey || event.altKey || event.metaKey));
  }, true);
}

function bytesText(count) {
  if (count < 1024) return `${count} B`;
  const big = count < 1048576 ? [count / 1024, "KiB"] : [count / 1048576, "MiB"];
  return `${big[0] < 10 ? big[0].toFixed(1) : Math.round(big[0])} ${big[1]}`;
}

class Downloads {
  constructor() {
    this.element = make("div", "xl-downloads");
    this.urls = [];
  }
  receive(content, buffers) {
    if (content.kind === "copy") navigator.clipboard?.writeText(content.text).catch(() => {});
    if (content.kind !== "download") return;
    const url = URL.createObjectURL(new Blob([buffers[0]], { type: content.mime }));
    this.urls.push(url);
    const link = make("a", "xl-download", `Download ${content.name} (${bytesText(buffers[0].byteLength)})`);
    Object.assign(link, { href: url, download: content.name });
    for (const old of [...this.element.children].slice(4)) old.remove();
    this.element.prepend(link);
  }
  remove() {
    this.urls.forEach((url) => URL.revokeObjectURL(url));
  }
}
