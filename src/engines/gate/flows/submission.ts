import { complain } from './failure.ts'

/** The fields of a form that somebody sent, each read with the type that it must have. */
export type Submission = ReturnType<typeof createSubmission>

/** Longer texts are nothing that a field of ours asks for; traits have limits of their own. */
const LONGEST_TEXT = 4096
const LONGEST_SHOWN = 320

export function createSubmission(body: Record<string, unknown>) {
  /** Undefined where nothing, or nothing but an empty text, was given. */
  function text(name: string): string | undefined {
    const value = Object.hasOwn(body, name) ? body[name] : undefined
    if (value === undefined || value === null || value === '') return undefined
    if (typeof value !== 'string' || value.length > LONGEST_TEXT || !value.isWellFormed())
      throw complain(4000026, { field: name, context: { property: name } })
    return value
  }

  function required(name: string): string {
    const value = text(name)
    if (value === undefined) throw complain(4000002, { field: name, context: { property: name } })
    return value
  }

  /** A button or a box: forms can only say so with a text. */
  function isSet(name: string): boolean {
    const value = Object.hasOwn(body, name) ? body[name] : undefined
    return value === true || value === 'true'
  }

  /** An object within it, such as the traits. */
  function object(name: string): Record<string, unknown> {
    const value = Object.hasOwn(body, name) ? body[name] : undefined
    if (value === undefined || value === null) return {}
    if (typeof value !== 'object' || Array.isArray(value))
      throw complain(4000026, { field: name, context: { property: name } })
    return value as Record<string, unknown>
  }

  /** Whether a field was there at all, be it left empty. */
  const mentions = (name: string): boolean => Object.hasOwn(body, name)

  const has = (name: string): boolean => isSet(name) || text(name) !== undefined

  /** Whatever was typed into a field, to be shown again; `traits.email` is within an object. */
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
      ? value.slice(0, LONGEST_SHOWN)
      : undefined
  }

  return { text, required, isSet, object, has, mentions, again }
}
