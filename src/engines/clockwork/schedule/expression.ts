import { invalid } from '../../../platform/errors.ts'
import { listBits, lowestBit } from './bits.ts'
import { MONTH_LENGTHS, monthName } from './calendar.ts'
import { DAY, FIELDS, HOUR, MINUTE, MONTH, WEEKDAY } from './fields.ts'
import { parseField } from './grammar.ts'
import { joinWords } from './numbers.ts'
import { type Rule, ruleOf } from './rule.ts'

/** In characters of the text as sent, including spaces. */
const MAX_EXPRESSION_LENGTH = 255

type Columns = [minute: string, hour: string, day: string, month: string, weekday: string]

/**
 * Parses a cron expression of 5 fields. Throws `invalid`, naming the field and the rule, also if
 * both day fields are set or no date can ever match.
 */
export function parseRule(expression: string): Rule {
  const [minute, hour, day, month, weekday] = columnsOf(expression)
  const rule = ruleOf({
    minutes: parseField(MINUTE, minute),
    hours: parseField(HOUR, hour).low,
    days: parseField(DAY, day).low,
    months: parseField(MONTH, month).low,
    weekdays: parseField(WEEKDAY, weekday).low,
  })
  refuseTwoDayFields(day, weekday)
  refuseMissingDates(rule)
  return rule
}

/** Ignores spaces at the start and end: they are harmless and common in crontab lines. */
export function columnsOf(expression: string): Columns {
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    throw invalid(`must have at most ${MAX_EXPRESSION_LENGTH} characters`, {
      field: 'schedule',
      rule: 'too_long',
    })
  }
  const columns = expression.split(/[ \t]/).filter((column) => column !== '')
  if (columns[0]?.startsWith('@')) {
    throw invalid('must be 5 fields; macros such as @daily are not supported', {
      field: 'schedule',
      rule: 'format',
    })
  }
  if (columns.length !== FIELDS.length) {
    throw invalid(`must have ${FIELDS.length} fields, not ${columns.length}`, {
      field: 'schedule',
      rule: 'format',
    })
  }
  return columns as Columns
}

/** Cron dialects disagree on whether two day fields mean "and" or "or", so neither is accepted. */
function refuseTwoDayFields(day: string, weekday: string) {
  if (day === '*' || weekday === '*') return
  throw invalid('must not restrict both day of month and day of week; put * in one of them', {
    field: 'schedule',
    rule: 'not_allowed',
  })
}

/** The smallest chosen day decides: if no chosen month has it, none has a larger one. */
function refuseMissingDates({ days, months }: Rule) {
  const earliest = lowestBit(days, 0) + 1
  const chosen = listBits(months)
  if (chosen.some((month) => earliest <= (MONTH_LENGTHS[month] as number))) return
  const dayWords = joinWords(
    listBits(days).map((index) => index + 1),
    'or',
  )
  const monthWords = joinWords(chosen.map(monthName), 'or')
  throw invalid(`never runs: ${dayWords} ${monthWords} does not exist`, {
    field: 'schedule',
    rule: 'never',
  })
}
