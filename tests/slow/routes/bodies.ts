import type { JsonSchema } from '../../../src/http/api-document.ts'

/** Members that JavaScript takes for more than data where a program does not take care. */
export const NAMES = ['__proto__', 'constructor', 'toString', 'valueOf', 'then', 'toJSON']
const VALUES = ['() => 1', 1, null, { name: 'Promise', call: 'apply', prototype: { x: 1 } }]

/** `{"toString": 1}` and its kind; made of entries, as an assignment to `__proto__` adds no member. */
const hostileAt = (place: number): object[] =>
  [0, 1].map((n) => {
    const name = NAMES[(place + 3 * n) % NAMES.length]
    return Object.fromEntries([[name, VALUES[(place + n) % VALUES.length]]])
  })

/** What a route wants to see before it looks any further, by the name of the member. */
const GOOD: Record<string, unknown> = {
  schema_id: 'user',
  email: 'ada@example.com',
  url: 'https://example.com/hook',
  schedule: '* * * * *',
  run_at: '2027-01-31T12:00:00Z',
  since: '2026-01-31T12:00:00Z',
  until: '2026-02-28T12:00:00Z',
  event_type: 'user.created',
  providers: [{ provider: 'github', enabled: true }],
}
/** Either of two, or one that has to be right in itself. */
const LEFT_OUT = new Set(['secret', 'hashed_password', 'idempotency_key'])

/** A body that fits the schema, with nearly all that is optional. */
export function fitting(schema: JsonSchema, name = ''): unknown {
  if (GOOD[name] !== undefined) return GOOD[name]
  const { examples, const: only, enum: words, anyOf, properties, items, minLength = 8 } = schema
  if (properties) return { ...fittingMembers(properties), ...(examples?.[0] as object) }
  if (examples?.length) return examples[0]
  if (only !== undefined) return only
  if (words) return words[0]
  if (anyOf) return fitting(anyOf.find(({ type }) => type !== 'null') ?? {}, name)
  switch (schema.type) {
    case 'array':
      return items ? [fitting(items, name.replace(/s$/, ''))] : []
    case 'object':
      return {}
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return 1
    default:
      return 'x'.repeat(minLength)
  }
}

const fittingMembers = (properties: Record<string, JsonSchema>) =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => !LEFT_OUT.has(name))
      .map(([name, schema]) => [name, fitting(schema, name)]),
  )

/**
 * The body with something hostile in the place of each of its values, and inside each that can hold
 * it: two names at each place, other ones at the next place and for another `first`.
 */
export function hostileBodies(body: unknown, first: number): Set<string> {
  const bodies = new Set<string>()
  for (const [n, at] of placesIn(body).entries())
    for (const hostile of hostileAt(first + n)) {
      bodies.add(JSON.stringify(put(body, at, () => hostile)))
      bodies.add(JSON.stringify(put(body, at, (value) => withMember(value, hostile))))
    }
  return bodies
}

type Place = readonly string[]

function placesIn(value: unknown, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at]
  const members = Object.entries(value)
  return [at, ...members.flatMap(([name, inner]) => placesIn(inner, [...at, name]))]
}

function put(value: unknown, [name, ...rest]: Place, change: (value: unknown) => unknown): unknown {
  if (name === undefined) return change(value)
  if (Array.isArray(value))
    return value.map((item, index) => (`${index}` === name ? put(item, rest, change) : item))
  const members = Object.entries(value as object)
  return Object.fromEntries(
    members.map(([member, inner]) => [member, member === name ? put(inner, rest, change) : inner]),
  )
}

function withMember(value: unknown, hostile: object): unknown {
  if (Array.isArray(value)) return [...value, hostile]
  if (typeof value !== 'object' || value === null) return hostile
  return Object.fromEntries([...Object.entries(value), ...Object.entries(hostile)])
}
