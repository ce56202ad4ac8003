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

/**
 * Returns an object with a member called `constructor` as a JSON response. The framework chooses
 * the format by the name of the constructor, but in free-form JSON that member is data. All other
 * values are returned unchanged: if this hook returned nothing, the framework would drop the body
 * of an error.
 */
export const asPlainAnswer = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'constructor')
    ? Response.json(value)
    : value
