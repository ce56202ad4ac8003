import { isJsonObject, type Json, type JsonObject } from './json.ts'

/** Whether two values are equal, regardless of the order of members. */
export function saysTheSame(one: Json, other: Json): boolean {
  if (Array.isArray(one)) return Array.isArray(other) && sameItems(one, other)
  if (isJsonObject(one)) return isJsonObject(other) && sameMembers(one, other)
  return one === other
}

const sameItems = (one: readonly Json[], other: readonly Json[]): boolean =>
  one.length === other.length && one.every((item, index) => saysTheSame(item, other[index] as Json))

function sameMembers(one: JsonObject, other: JsonObject): boolean {
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) => Object.hasOwn(other, name) && saysTheSame(one[name] as Json, other[name] as Json),
    )
  )
}
