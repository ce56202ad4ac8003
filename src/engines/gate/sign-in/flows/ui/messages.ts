import type { Language, Message } from '../../model.ts'
import { asText, duration, shortened } from './message-values.ts'
import { german } from './words-de.ts'
import { english, type MessageId, type Words } from './words-en.ts'

export type { MessageId } from './words-en.ts'

/**
 * Fills placeholders from the context: `{provider}` from `context.provider`. The context is
 * included for other front ends, its strings limited to 300 characters. The renderer has to escape.
 */
export type Say = (id: MessageId, context?: Record<string, unknown>) => Message

const WORDS: Record<Language, Words> = { en: english, de: german }

/** The texts of one language. */
export const createSay =
  (language: Language): Say =>
  (id, context) => ({
    id,
    text: fill(language, WORDS[language].texts[id], context ?? {}),
    type: typeOf(id),
    ...(context && { context: withinBounds(context) }),
  })

const SUCCESSES: ReadonlySet<MessageId> = new Set([1050001, 1060001, 1080002, 1900012, 1900013])

function typeOf(id: MessageId): Message['type'] {
  if (id >= 4_000_000) return 'error'
  return SUCCESSES.has(id) ? 'success' : 'info'
}

/**
 * Fills all placeholders in a single pass, so that inserted text is never treated as a template.
 */
const fill = (language: Language, text: string, context: Record<string, unknown>) =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => fillIn(language, name, context[name]))

function fillIn(language: Language, name: string, value: unknown): string {
  if (name === 'seconds') return duration(language, value)
  if (name === 'property') return fieldName(language, asText(value))
  return asText(value)
}

function fieldName(language: Language, property: string): string {
  const fields: Record<string, string> = WORDS[language].fields
  return (Object.hasOwn(fields, property) && fields[property]) || property
}

const withinBounds = (context: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(context).map(([name, value]) => [
      name,
      typeof value === 'string' ? shortened(value) : value,
    ]),
  )
