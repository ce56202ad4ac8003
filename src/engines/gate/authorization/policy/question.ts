import { invalid } from '../../../../platform/errors.ts'
import type { JsonObject } from '../../identities/documents/json.ts'

/** May `principal` perform `action` on `resource`? All three belong to the tenant. */
export interface Question {
  tenantId: string
  principal: Principal
  action: string
  resource: Resource
  /** Validated by `checkContext`. */
  context: JsonObject
}

export type Principal = Person | { kind: 'service'; id: string }

/** An identity that the caller has checked to be active. */
export interface Person {
  kind: 'identity'
  id: string
  email: string
  isEmailVerified: boolean
  roles: readonly string[]
  /** Its `metadata_public`. */
  metadata: JsonObject
}

export type Resource =
  | { kind: 'tenant'; id: string }
  | { kind: 'identity'; id: string }
  | { kind: 'other'; type: readonly string[]; id: string }

const MAX_NAME_LENGTH = 256

const ACTION = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/

/** Throws `invalid` unless the text is a valid action name. */
export function checkAction(text: string): void {
  checkLength(text, 'action')
  if (!ACTION.test(text)) {
    throw invalid('must be words of letters, digits, _ and - separated by dots', {
      field: 'action',
      rule: 'format',
    })
  }
}

/** Throws `invalid` unless the text is a valid name of a subject or a resource. */
export function checkName(text: string, field: string): void {
  if (text === '') throw invalid('must not be empty', { field, rule: 'required' })
  checkLength(text, field)
  if (!text.isWellFormed() || CONTROL.test(text)) {
    throw invalid('must not contain control characters', { field, rule: 'characters' })
  }
}

const CONTROL = /\p{Cc}/u

function checkLength(text: string, field: string) {
  if (text.length > MAX_NAME_LENGTH) {
    throw invalid(`must have at most ${MAX_NAME_LENGTH} characters`, { field, rule: 'too_long' })
  }
}

/** The id follows the last colon: `tenant:<id>`, `identity:<id>`, `document:42`, `shop:order:7`. */
export function parseResource(text: string): Resource {
  checkName(text, 'resource')
  const colon = text.lastIndexOf(':')
  return resourceOf(text.slice(0, Math.max(colon, 0)), text.slice(colon + 1))
}

/** The same for a separate type and id; the id may contain colons. */
export function resourceOf(kind: string, id: string): Resource {
  checkName(`${kind}:${id}`, 'resource')
  if (kind === '' || id === '') {
    throw invalid('must be a type and an id separated by a colon, such as document:42', {
      field: 'resource',
      rule: 'format',
    })
  }
  const type = kind.split(':')
  if (type.length === 1 && (type[0] === 'tenant' || type[0] === 'identity')) {
    return { kind: type[0], id }
  }
  type.forEach(checkTypeWord)
  if (type.at(-1) === 'action')
    throw invalid('must not have a type that ends in "action"', {
      field: 'resource',
      rule: 'reserved',
    })
  return { kind: 'other', type, id }
}

/** Part of an entity type name: `access-key` is `AccessKey`. No two types can get the same name. */
const TYPE_WORD = /^[a-z][a-z0-9_]*(-[a-z][a-z0-9_]*)*$/

function checkTypeWord(word: string) {
  if (!TYPE_WORD.test(word)) {
    throw invalid(
      `cannot have ${JSON.stringify(word)} in its type; use a-z, 0-9 and _, begin with a letter, and join words with -`,
      { field: 'resource', rule: 'format' },
    )
  }
}
