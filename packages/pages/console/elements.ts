/** The element of the page with this id. @throws if the page has no such element of this type. */
export function find<Type extends Element>(id: string, type: abstract new () => Type): Type {
  const element = document.getElementById(id);
  if (element instanceof type) return element;
  throw new Error(`The page has no ${type.name} #${id}.`);
}

/** Screen readers announce a change of a text, so an equal text is not written again. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
