/** The prototype of objects made of form fields. They inherit no member that a field could be named after. */
export const FIELDS_PROTOTYPE: object = Object.create(null, textOf('a group of fields'))

/** The framework quotes invalid values, and would throw if data took the place of `toString`. */
export function makeQuotable(value: unknown) {
  if (typeof value !== 'object' || value === null) return
  if (Object.hasOwn(value, 'toString')) Object.defineProperties(value, textOf('a JSON object'))
  for (const member of Object.values(value)) makeQuotable(member)
}

/** Properties that are neither copied nor written as JSON. */
function textOf(text: string): PropertyDescriptorMap {
  return { [Symbol.toPrimitive]: { value: () => text } }
}
