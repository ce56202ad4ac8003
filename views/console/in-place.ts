/**
 * htmx attributes of links and forms that filter a list: morphs the content, which keeps the focus, and
 * updates the address.
 */
export const IN_PLACE = {
  'hx-boost': 'true',
  'hx-target': '#content',
  'hx-select': '#content',
  'hx-swap': 'outerMorph',
  'hx-indicator': '#progress',
}
