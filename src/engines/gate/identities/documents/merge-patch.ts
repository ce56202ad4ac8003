import { isJsonObject, type Json } from './json.ts'

/** Applies a JSON Merge Patch (RFC 7396) to a copy, nested no deeper than the deeper input. */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch
  const members = new Map(isJsonObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, mergePatch(members.get(name) ?? null, value))
  }
  // Defines members, because an assignment would set the prototype.
  return Object.fromEntries(members)
}
