import { isJsonObject, type Json } from './json.ts'

/**
 * RFC 7396: members of the patch replace those of the target, null deletes them, objects are
 * merged. Neither argument is changed. The outcome is nested no deeper than the deeper of the two.
 * A member named `__proto__` is one like any other.
 */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch
  const members = new Map(isJsonObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, mergePatch(members.get(name) ?? null, value))
  }
  // Defines members where an assignment would set the prototype.
  return Object.fromEntries(members)
}
