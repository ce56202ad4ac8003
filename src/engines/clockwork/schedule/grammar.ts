import { fail, invalid } from '../../../platform/errors.ts'
import { addBit, type Bits } from './bits.ts'
import type { Field } from './fields.ts'

/** Every number that may be written: one or two ASCII digits. */
const NUMBERS = new Map<string, number>(
  Array.from({ length: 100 }, (_, n) => [
    [`${n}`, n] as const,
    [`0${n}`.slice(-2), n] as const,
  ]).flat(),
)

/** `*`, `a-b`, and either with `/step`. Single numbers are handled before. */
const SPAN = /^(?:\*|(\d\d?)-(\d\d?))(?:\/(\d\d?))?$/

/** Parses one field to the set of its values, counted from the first. Throws `invalid`. */
export function parseField(field: Field, text: string): Bits {
  const chosen: Bits = { low: 0, high: 0 }
  for (const item of text.split(',')) addItem(chosen, field, item)
  return chosen
}

function addItem(chosen: Bits, field: Field, item: string) {
  const number = NUMBERS.get(item)
  if (number === undefined) addSpan(chosen, field, item)
  else addValue(chosen, field, inField(field, number))
}

function addSpan(chosen: Bits, field: Field, item: string) {
  const [, from, to, step] = SPAN.exec(item) ?? fail(misread(field, item))
  const first = from === undefined ? field.first : inField(field, Number(from))
  const last = to === undefined ? field.first + field.size - 1 : inField(field, Number(to))
  if (first > last) throw refusal(field, `range ${item} runs backwards`)
  const stride = step === undefined ? 1 : inStep(field, Number(step))
  for (let value = first; value <= last; value += stride) addValue(chosen, field, value)
}

/** Adds a value. Sunday written as 7 sets the same bit as 0. */
function addValue(chosen: Bits, field: Field, value: number) {
  addBit(chosen, (value - field.first) % field.size)
}

function inField(field: Field, value: number): number {
  if (value >= field.first && value <= field.last) return value
  throw refusal(field, `${value} is outside ${field.first}-${field.last}`)
}

function inStep(field: Field, step: number): number {
  if (step >= 1 && step <= field.size) return step
  throw refusal(field, `step ${step} is outside 1-${field.size}`)
}

/** The error for an item that matches no syntax. */
function misread(field: Field, item: string) {
  const foreign = /[^\d*,/-]/u.exec(item)?.[0]
  if (foreign !== undefined) return refusal(field, foreignWords(foreign))
  if (item === '') return refusal(field, 'has an empty item, remove the extra comma')
  if (/\d{3}/.test(item)) return refusal(field, `${item} has a number of more than 2 digits`)
  if (/^\d*\/\d+$/.test(item)) return refusal(field, `step ${item} needs * or a range before the /`)
  return refusal(field, `${item} is neither a number, a range a-b, * nor a step such as */2`)
}

function foreignWords(character: string): string {
  if (/[a-z]/i.test(character)) return `"${character}" is not allowed, write numbers, not names`
  const code = character.codePointAt(0) ?? 0
  const shown = code > 0x20 && code < 0x7f ? `"${character}"` : `U+${hex(code)}`
  return `${shown} is not allowed, only digits and * , - /`
}

const hex = (code: number) => code.toString(16).toUpperCase().padStart(4, '0')

const refusal = (field: Field, rule: string) =>
  invalid(`${field.name} ${rule}`, { field: 'schedule', rule: 'format' })
