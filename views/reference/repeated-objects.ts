import type { ApiOperation, JsonSchema } from '../../src/http/api-document.ts'
import type { Entry } from './entries.ts'
import { objectsIn } from './schema.ts'

/** Characters of JSON from which an object is shown once on a page. Flows are ten screens long. */
const LARGE = 3000

/** The operation that shows an object for another one, if that came first and the object is large. */
export type ShownAt = (object: JsonSchema, by: Entry) => Entry | undefined

export function createShownAt(entries: readonly Entry[]): ShownAt {
  const first = new Map<string, Entry>()
  for (const entry of entries)
    for (const object of objectsOf(entry.operation)) {
      const text = JSON.stringify(object)
      if (text.length > LARGE && !first.has(text)) first.set(text, entry)
    }
  return (object, by) => {
    const entry = first.get(JSON.stringify(object))
    return entry === by ? undefined : entry
  }
}

const objectsOf = ({ responses = {} }: ApiOperation): JsonSchema[] =>
  Object.entries(responses)
    .filter(([status]) => status < '400')
    .flatMap(([, { content }]) => objectsIn(content?.['application/json']?.schema ?? {}))
