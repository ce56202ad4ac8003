/**
 * On links and forms that change what is listed: only what differs in the content is
 * swapped, so that the focus stays where it is, and the address says what is shown.
 */
export const IN_PLACE = {
  'hx-boost': 'true',
  'hx-target': '#content',
  'hx-select': '#content',
  'hx-swap': 'outerMorph',
  'hx-indicator': '#progress',
}
