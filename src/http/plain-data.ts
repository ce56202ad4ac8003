/** The prototype of objects made of form fields. They inherit no member that a field could be named after. */
export const FIELDS_PROTOTYPE: object = Object.create(null, textOf('a group of fields'))

/**
 * Lets every object in a JSON value be quoted in a message. The framework's validation quotes what
 * does not fit the schema, and throws if an object has data in place of the method `toString`.
 */
export function makeQuotable(value: unknown) {
  if (typeof value !== 'object' || value === null) return
  if (Object.hasOwn(value, 'toString')) Object.defineProperties(value, textOf('a JSON object'))
  for (const member of Object.values(value)) makeQuotable(member)
}

/** Neither copied nor written as JSON. */
function textOf(text: string): PropertyDescriptorMap {
  return { [Symbol.toPrimitive]: { value: () => text } }
}

/**
 * An answer that the framework writes as JSON. It chooses the format by the name of the
 * constructor, and in free-form JSON a member called `constructor` is data. All other answers are
 * returned as they are: where this hook returns nothing, the framework drops the body of an error.
 */
export const asPlainAnswer = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'constructor')
    ? Response.json(value)
    : value
