import type { SessionWithIdentity } from '../../sessions/store.ts'
import type { Client } from './client.ts'
import { fieldError } from './failure.ts'
import type { FlowRow } from './store.ts'

/** A form that a client has submitted. */
export interface Form {
  /** The flow as it was read when the form arrived. */
  flow: FlowRow
  input: Submission
  client: Client
  /** The session that the flow acts for, if any. */
  session: SessionWithIdentity | undefined
}

/** The fields of a submitted form, each read with its expected type. */
export type Submission = ReturnType<typeof createSubmission>

/** Maximum length of a text field. Traits have their own limits. */
const MAX_TEXT_LENGTH = 4096
const MAX_SHOWN_LENGTH = 320

export function createSubmission(body: Record<string, unknown>) {
  /** Undefined if the field is missing or empty. */
  function text(name: string): string | undefined {
    const value = Object.hasOwn(body, name) ? body[name] : undefined
    if (value === undefined || value === null || value === '') return undefined
    if (typeof value !== 'string' || value.length > MAX_TEXT_LENGTH || !value.isWellFormed())
      throw fieldError(4000026, { field: name, context: { property: name } })
    return value
  }

  function required(name: string): string {
    const value = text(name)
    if (value === undefined) throw fieldError(4000002, { field: name, context: { property: name } })
    return value
  }

  /** Whether a button was pressed or a box ticked. Forms send both as text. */
  function isSet(name: string): boolean {
    const value = Object.hasOwn(body, name) ? body[name] : undefined
    return value === true || value === 'true'
  }

  /** An object inside the form, such as the traits. */
  function object(name: string): Record<string, unknown> {
    const value = Object.hasOwn(body, name) ? body[name] : undefined
    if (value === undefined || value === null) return {}
    if (typeof value !== 'object' || Array.isArray(value))
      throw fieldError(4000026, { field: name, context: { property: name } })
    return value as Record<string, unknown>
  }

  /** Whether the form contains the field, even if empty. */
  const mentions = (name: string): boolean => Object.hasOwn(body, name)

  const has = (name: string): boolean => isSet(name) || text(name) !== undefined

  /**
   * The submitted value of a field, which the form shows again. `traits.email` is read from a nested object.
   */
  function again(path: string): string | undefined {
    const value = path
      .split('.')
      .reduce<unknown>(
        (within, name) =>
          typeof within === 'object' && within !== null && Object.hasOwn(within, name)
            ? within[name as keyof typeof within]
            : undefined,
        body,
      )
    return typeof value === 'string' && value.isWellFormed()
      ? value.slice(0, MAX_SHOWN_LENGTH)
      : undefined
  }

  return { text, required, isSet, object, has, mentions, again }
}
