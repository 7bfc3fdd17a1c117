// A picture that the kernel draws: an image with its alternative text, and the files that it offers.

class PictureView {
  constructor(model, el) {
    this.model = model;
    this.root = make("div", "xl-picture");
    this.image = make("img");
    this.downloads = new Downloads();
    this.root.append(this.image, this.downloads.element);
    el.append(this.root);
    this.show = () => this.load();
    this.message = (content, buffers) => this.downloads.receive(content, buffers);
    model.on("change:drawn", this.show);
    model.on("msg:custom", this.message);
    this.load();
  }
  load() {
    const png = this.model.get("png");
    if (!png || !png.byteLength) return;
    const old = this.url;
    this.url = URL.createObjectURL(new Blob([png], { type: "image/png" }));
    this.image.onload = () => {
      if (old) URL.revokeObjectURL(old);
      this.root.dataset.drawn = this.model.get("drawn");
    };
    this.image.src = this.url;
    this.image.alt = this.model.get("alt");
  }
  remove() {
    this.model.off("change:drawn", this.show);
    this.model.off("msg:custom", this.message);
    this.downloads.remove();
    if (this.url) URL.revokeObjectURL(this.url);
  }
}

export default {
  render({ model, el }) {
    const view = new PictureView(model, el);
    return () => view.remove();
  },
};
