import { invalid } from '../../../../platform/errors.ts'
import { type Json, type JsonObject, jsonBytes, levelsOf } from './json.ts'
import { containerOf, indexForNew, isInside, lastOf, memberOf, valueAt } from './lookup.ts'
import type { Pointer } from './pointer.ts'
import { saysTheSame } from './same.ts'

/** Size limits that the document must not exceed at any point of the patch. */
export interface Room {
  /** Maximum size as JSON in UTF-8 bytes. */
  mostBytes: number
  /** Maximum nesting of objects and arrays; the document itself is the first level. */
  mostLevels: number
}

export type Draft = ReturnType<typeof createDraft>

/** A copy for RFC 6902 operations. A failing one throws `invalid` and may be half applied. */
export function createDraft(original: JsonObject, { mostBytes, mostLevels }: Room) {
  const written = JSON.stringify(original)
  const document: JsonObject = JSON.parse(written)

  /** Upper bound, too high by at most a comma per operation; measuring each time is too slow. */
  let bytes = Buffer.byteLength(written)
  let bytesCarried = 0

  function grow(by: number) {
    bytes += by
    if (by > 0 && bytes > mostBytes) {
      throw invalid(`would make the document larger than ${mostBytes} bytes`, { rule: 'too_large' })
    }
  }

  /** Copying large values takes time even if the document stays small, so it has a budget. */
  function carry(value: Json): Json {
    bytesCarried += jsonBytes(value)
    if (bytesCarried > mostBytes) {
      throw invalid(`copies and moves down more than ${mostBytes} bytes in total`, {
        rule: 'too_large',
      })
    }
    return value
  }

  function requireLevels(path: Pointer, value: Json) {
    if (path.length + levelsOf(value) > mostLevels) {
      throw invalid(`would nest deeper than ${mostLevels} levels`, { rule: 'too_deep' })
    }
  }

  function insert(path: Pointer, value: Json, size: number) {
    const container = containerOf(document, path)
    const token = lastOf(path)
    if (Array.isArray(container)) {
      const index = indexForNew(container, token)
      grow(size + bytesBeside(container, token))
      container.splice(index, 0, value)
    } else {
      const replaced = memberOf(container, token)
      grow(size + (replaced === undefined ? bytesBeside(container, token) : -jsonBytes(replaced)))
      container[token] = value
    }
  }

  /** Removes a value. Its size is not subtracted, because a move may insert it elsewhere. */
  function take(path: Pointer): Json {
    const value = valueAt(document, path)
    const container = containerOf(document, path)
    const token = lastOf(path)
    if (Array.isArray(container)) container.splice(Number(token), 1)
    else delete container[token]
    grow(1 - bytesBeside(container, token))
    return value
  }

  function add(path: Pointer, value: Json) {
    requireLevels(path, value)
    const text = JSON.stringify(value)
    insert(path, JSON.parse(text), Buffer.byteLength(text))
  }

  const remove = (path: Pointer) => grow(-jsonBytes(take(path)))

  function replace(path: Pointer, value: Json) {
    requireLevels(path, value)
    const replaced = valueAt(document, path)
    const text = JSON.stringify(value)
    grow(Buffer.byteLength(text) - jsonBytes(replaced))
    const container = containerOf(document, path)
    if (Array.isArray(container)) container[Number(lastOf(path))] = JSON.parse(text)
    else container[lastOf(path)] = JSON.parse(text)
  }

  /** Resolves the target after the removal, because array items behind the source have shifted. */
  function move(from: Pointer, path: Pointer) {
    if (isInside(path, from))
      throw invalid('a value cannot be moved into itself', { rule: 'not_allowed' })
    const value = take(from)
    if (path.length > from.length) requireLevels(path, carry(value))
    insert(path, value, 0)
  }

  const copy = (from: Pointer, path: Pointer) => add(path, carry(valueAt(document, from)))

  function test(path: Pointer, value: Json) {
    if (!saysTheSame(value, valueAt(document, path)))
      throw invalid('the value is different', { rule: 'mismatch' })
  }

  return { document, add, remove, replace, move, copy, test }
}

/** The bytes that a member needs besides its value: name, colon and comma. */
const bytesBeside = (container: JsonObject | Json[], token: string): number =>
  Array.isArray(container) ? 1 : jsonBytes(token) + 2
