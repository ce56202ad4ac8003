import type { Caller } from '../platform/caller.ts'
import type { Collection, Item, Section } from './section.ts'
import { differing, inOrder } from './values.ts'

/** The manifest of a tenant as it is. Secrets are masked, and defaults omitted. */
export function exported(sections: readonly Section[], caller: Caller): Item {
  const manifest: Record<string, unknown> = {}
  for (const section of sections) {
    const value = section.type === 'setting' ? section.read(caller) : itemsOf(section, caller)
    const isEmpty = Array.isArray(value) && value.length === 0
    if (isEmpty || (section.type === 'setting' && section.isDefault(value))) continue
    putInto(manifest, section.name, value)
  }
  return manifest
}

/** Oldest first, so that a file changes at its end. */
const itemsOf = (section: Collection, caller: Caller): Item[] =>
  section
    .list(caller)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .map(({ item }) => minimal(section, section.masked(item)))

/** The fields of a manifest that aren't the default, in the order of the schema. */
function minimal(section: Collection, item: Item): Item {
  const given = differing({ ...section.initial, ...section.defaultsOf(item) }, item)
  return inOrder(section, given)
}

/** A dot in a name leads into a table. */
function putInto(manifest: Record<string, unknown>, name: string, value: unknown) {
  const [first = '', rest] = name.split('.')
  manifest[first] =
    rest === undefined ? value : { ...(manifest[first] as object | undefined), [rest]: value }
}
