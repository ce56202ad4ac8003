import { invalid } from '../../../platform/errors.ts'
import { type Json, type JsonObject, jsonBytes, levelsOf } from './json.ts'
import { containerOf, indexForNew, isInside, lastOf, memberOf, valueAt } from './place.ts'
import type { Pointer } from './pointer.ts'
import { saysTheSame } from './same.ts'

/** How far a document may grow, at no time beyond it. */
export interface Room {
  /** As JSON in UTF-8. */
  mostBytes: number
  /** Of objects and arrays, the document being the first. */
  mostLevels: number
}

export type Draft = ReturnType<typeof createDraft>

/**
 * A copy of a document, for the operations of RFC 6902 to be carried out on. One that cannot be
 * throws `invalid` and may leave the draft half changed.
 */
export function createDraft(original: JsonObject, { mostBytes, mostLevels }: Room) {
  const written = JSON.stringify(original)
  const document: JsonObject = JSON.parse(written)

  /**
   * What the document takes, or a byte more for each operation: whether a comma comes and goes
   * with a value is not looked at. To measure the document each time would take too long.
   */
  let bytes = Buffer.byteLength(written)
  let bytesCarried = 0

  function grow(by: number) {
    bytes += by
    if (by > 0 && bytes > mostBytes) {
      throw invalid(`would make the document larger than ${mostBytes} bytes`, { rule: 'too_large' })
    }
  }

  /** A large value carried about over and over leaves a small document, but takes long. */
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

  /** Removes a value; its size is not given back, as it may come in again elsewhere. */
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

  /** Where it goes is looked up once it is gone: what was behind it has moved up. */
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

/** What a value in a container takes beside its own bytes: its name, a colon, a comma. */
const bytesBeside = (container: JsonObject | Json[], token: string): number =>
  Array.isArray(container) ? 1 : jsonBytes(token) + 2
