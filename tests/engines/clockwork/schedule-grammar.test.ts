import { describe, expect, test } from 'bun:test'
import { parseSchedule } from '../../../src/engines/clockwork/schedule/index.ts'
import { AppError } from '../../../src/platform/errors.ts'

const refusalOf = (expression: string): AppError => {
  try {
    parseSchedule(expression)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error(`accepted ${JSON.stringify(expression)}`)
}

const table = (title: string, rows: [expression: string, message: string][]) =>
  describe(title, () => {
    test.each(rows)('%j', (expression, message) => {
      const refusal = refusalOf(expression)

      expect(refusal.kind).toBe('invalid')
      expect(refusal.message).toBe(`schedule: ${message}`)
    })
  })

table('a schedule has exactly 5 fields', [
  ['', 'must have 5 fields, not 0'],
  [' \t ', 'must have 5 fields, not 0'],
  ['*', 'must have 5 fields, not 1'],
  ['* * * *', 'must have 5 fields, not 4'],
  ['* * * * * *', 'must have 5 fields, not 6'],
  ['0 * * * * * 2030', 'must have 5 fields, not 7'],
  ['2026-03-01T00:00:00Z', 'must have 5 fields, not 1'],
  ['reboot', 'must have 5 fields, not 1'],
])

table('macros are not expanded', [
  ['@daily', 'must be 5 fields; macros such as @daily are not supported'],
  [' @HOURLY ', 'must be 5 fields; macros such as @daily are not supported'],
  ['@ * * * *', 'must be 5 fields; macros such as @daily are not supported'],
])

table('only ASCII blanks and tabs part the fields', [
  ['*\n* * * *', 'must have 5 fields, not 4'],
  ['* * * * *\n', 'day of week U+000A is not allowed, only digits and * , - /'],
  ['* *\u00a0* * * *', 'hour U+00A0 is not allowed, only digits and * , - /'],
  ['*\u3000* * * * *', 'minute U+3000 is not allowed, only digits and * , - /'],
  ['*\u2028 * * * *', 'minute U+2028 is not allowed, only digits and * , - /'],
  ['\u0000 * * * *', 'minute U+0000 is not allowed, only digits and * , - /'],
])

table('names and the signs of other dialects are refused', [
  ['* * * JAN *', 'month "J" is not allowed, write numbers, not names'],
  ['* * * * MON', 'day of week "M" is not allowed, write numbers, not names'],
  ['* * * * fri-sun', 'day of week "f" is not allowed, write numbers, not names'],
  ['0 0 L * *', 'day of month "L" is not allowed, write numbers, not names'],
  ['0 0 15W * *', 'day of month "W" is not allowed, write numbers, not names'],
  ['0 0 LW * *', 'day of month "L" is not allowed, write numbers, not names'],
  ['H * * * *', 'minute "H" is not allowed, write numbers, not names'],
  ['0 0 * * 5#2', 'day of week "#" is not allowed, only digits and * , - /'],
  ['0 0 ? * *', 'day of month "?" is not allowed, only digits and * , - /'],
  ['0 0 * * +1', 'day of week "+" is not allowed, only digits and * , - /'],
  ['1~5 * * * *', 'minute "~" is not allowed, only digits and * , - /'],
  ['1.5 * * * *', 'minute "." is not allowed, only digits and * , - /'],
  ['* * \u0661 * *', 'day of month U+0661 is not allowed, only digits and * , - /'],
  ['\uff15 * * * *', 'minute U+FF15 is not allowed, only digits and * , - /'],
  ['\u{1f600} * * * *', 'minute U+1F600 is not allowed, only digits and * , - /'],
  ['\ud800 * * * *', 'minute U+D800 is not allowed, only digits and * , - /'],
])

const shape = 'is neither a number, a range a-b, * nor a step such as */2'

table('an item is a number, a range, * or a step over one of the latter two', [
  ['5* * * * *', `minute 5* ${shape}`],
  ['*5 * * * *', `minute *5 ${shape}`],
  ['** * * * *', `minute ** ${shape}`],
  ['1-5* * * * *', `minute 1-5* ${shape}`],
  ['*/5* * * * *', `minute */5* ${shape}`],
  ['*-5 * * * *', `minute *-5 ${shape}`],
  ['-5 * * * *', `minute -5 ${shape}`],
  ['1- * * * *', `minute 1- ${shape}`],
  ['- * * * *', `minute - ${shape}`],
  ['1-2-3 * * * *', `minute 1-2-3 ${shape}`],
  ['1--2 * * * *', `minute 1--2 ${shape}`],
  ['*/ * * * *', `minute */ ${shape}`],
  ['/ * * * *', `minute / ${shape}`],
  ['*/5/2 * * * *', `minute */5/2 ${shape}`],
  ['*/-5 * * * *', `minute */-5 ${shape}`],
  ['*/1-5 * * * *', `minute */1-5 ${shape}`],
  [', * * * *', 'minute has an empty item, remove the extra comma'],
  ['1,,2 * * * *', 'minute has an empty item, remove the extra comma'],
  ['* ,1 * * *', 'hour has an empty item, remove the extra comma'],
  ['* * * * 1,', 'day of week has an empty item, remove the extra comma'],
])

table('a step needs * or a range before it', [
  ['0/15 * * * *', 'minute step 0/15 needs * or a range before the /'],
  ['* 5/15 * * *', 'hour step 5/15 needs * or a range before the /'],
  ['* * /15 * *', 'day of month step /15 needs * or a range before the /'],
])

table('numbers have at most 2 digits', [
  ['007 * * * *', 'minute 007 has a number of more than 2 digits'],
  ['* 000000000001 * * *', 'hour 000000000001 has a number of more than 2 digits'],
  ['0-059 * * * *', 'minute 0-059 has a number of more than 2 digits'],
  ['*/100 * * * *', 'minute */100 has a number of more than 2 digits'],
])

table('each number is inside its field', [
  ['60 * * * *', 'minute 60 is outside 0-59'],
  ['0-60 * * * *', 'minute 60 is outside 0-59'],
  ['1,2,99 * * * *', 'minute 99 is outside 0-59'],
  ['* 24 * * *', 'hour 24 is outside 0-23'],
  ['* * 0 * *', 'day of month 0 is outside 1-31'],
  ['* * 32 * *', 'day of month 32 is outside 1-31'],
  ['* * * 0 *', 'month 0 is outside 1-12'],
  ['* * * 13 *', 'month 13 is outside 1-12'],
  ['* * * 00-12 *', 'month 0 is outside 1-12'],
  ['* * * * 8', 'day of week 8 is outside 0-7'],
])

table('ranges ascend', [
  ['50-10 * * * *', 'minute range 50-10 runs backwards'],
  ['* 22-6/2 * * *', 'hour range 22-6/2 runs backwards'],
  ['* * * 2-1 *', 'month range 2-1 runs backwards'],
  ['* * * * 7-1', 'day of week range 7-1 runs backwards'],
  ['* * * * 6-1', 'day of week range 6-1 runs backwards'],
])

table('a step is at least 1 and at most the size of its field', [
  ['*/0 * * * *', 'minute step 0 is outside 1-60'],
  ['0-10/00 * * * *', 'minute step 0 is outside 1-60'],
  ['*/61 * * * *', 'minute step 61 is outside 1-60'],
  ['* */30 * * *', 'hour step 30 is outside 1-24'],
  ['* * 1-2/32 * *', 'day of month step 32 is outside 1-31'],
  ['* * * */13 *', 'month step 13 is outside 1-12'],
  ['* * * * */8', 'day of week step 8 is outside 1-7'],
])

const bothDays = 'must not restrict both day of month and day of week; put * in one of them'

table('of the two day fields one is a literal *', [
  ['0 0 1 * 1', bothDays],
  ['0 0 */2 * 1', bothDays],
  ['0 0 1-31 * 1', bothDays],
  ['0 0 */1 * 1', bothDays],
  ['0 0 *,1 * 1', bothDays],
  ['0 0 1 * 0-6', bothDays],
  ['0 0 1 * */1', bothDays],
  ['0 0 */2 * */2', bothDays],
  ['0 0 31 2 1', bothDays],
])

table('some chosen month has one of the chosen days', [
  ['0 0 31 2 *', 'never runs: 31 February does not exist'],
  ['0 0 30 2 *', 'never runs: 30 February does not exist'],
  ['0 0 30-31 2 *', 'never runs: 30 or 31 February does not exist'],
  ['0 0 31 4,6 *', 'never runs: 31 April or June does not exist'],
  [
    '0 0 31 2,4,6,9,11 *',
    'never runs: 31 February, April, June, September or November does not exist',
  ],
])

test.each([
  '* * * * *',
  '00 07 * * 1',
  '09 09 09 09 *',
  '59 23 31 12 *',
  '*/1 */1 */1 */1 *',
  '*/60 */24 */31 */12 *',
  '* * * * */7',
  '0-59/60 0-23/24 1-31/31 1-12/12 *',
  '5-5 5-5 5-5 5-5 *',
  '0,0,0,0-3,*,*/7 * * * *',
  '* * *,1 * *',
  '* * * * 0,7',
  '0 0 29 2 *',
  '0 0 31 1,2 *',
  '0 0 29-31 2 *',
  '0 0 31 * *',
])('%j is accepted', (expression) => {
  expect(parseSchedule(expression).next(0)).toBeNumber()
})

test.each(['*\t* * *\t*', '  *   * \t * *  *', '\t* * * * *\t'])(
  'blanks and tabs around the fields change nothing: %j',
  (expression) => {
    expect(parseSchedule(expression).next(0)).toBe(60_000)
  },
)

describe('255 characters are the most, counted on the text as sent', () => {
  const long = `${Array.from({ length: 50 }, (_, i) => i + 10).join(',')} `.padEnd(247, ' ')

  test('255 are accepted', () => {
    expect(parseSchedule(`${long}* * * *`.padEnd(255)).next(0)).toBe(600_000)
  })

  test('256 are refused, even when the last one is a blank', () => {
    expect(refusalOf(`${long}* * * *`.padEnd(256)).message).toBe(
      'schedule: must have at most 255 characters',
    )
  })

  test('a longer text is refused by its length alone, before it is looked at', () => {
    const unreadable = new Proxy({ length: 256 }, { get: lengthOnly }) as unknown as string

    expect(refusalOf(unreadable).message).toBe('schedule: must have at most 255 characters')
  })
})

const lengthOnly = (target: { length: number }, key: string | symbol) => {
  if (key === 'length') return target.length
  throw new Error(`read ${String(key)} of a text that is too long`)
}
