import { expect, test } from 'bun:test'
import { parseSchedule } from '../../../src/engines/clockwork/schedule/index.ts'
import { refusalOf } from '../gate/identities/documents/support.ts'

const shape = 'is neither a number, a range a-b, * nor a step such as */2'
const macros = 'must be 5 fields; macros such as @daily are not supported'
const digitsOnly = 'is not allowed, only digits and * , - /'
const noNames = 'is not allowed, write numbers, not names'
const emptyItem = 'has an empty item, remove the extra comma'
const needsRange = 'needs * or a range before the /'
const tooLong = 'has a number of more than 2 digits'
const bothDays = 'must not restrict both day of month and day of week; put * in one of them'

/** What is wrong and the start of a message, with the expressions that get it. */
const REFUSED: [rule: string, rows: [expression: string, message: string][]][] = [
  [
    'exactly 5 fields, parted by ASCII blanks and tabs',
    [
      [' \t ', 'must have 5 fields, not 0'],
      ['* * * *', 'must have 5 fields, not 4'],
      ['* * * * * *', 'must have 5 fields, not 6'],
      ['@daily', macros],
      [' @HOURLY ', macros],
      ['@ * * * *', macros],
      ['*\n* * * *', 'must have 5 fields, not 4'],
      ['* * * * *\n', `day of week U+000A ${digitsOnly}`],
      ['* *\u00a0* * * *', `hour U+00A0 ${digitsOnly}`],
      ['\u0000 * * * *', `minute U+0000 ${digitsOnly}`],
    ],
  ],
  [
    'without names and the signs of other dialects',
    [
      ['* * * JAN *', `month "J" ${noNames}`],
      ['* * * * fri-sun', `day of week "f" ${noNames}`],
      ['0 0 15W * *', `day of month "W" ${noNames}`],
      ['0 0 * * 5#2', `day of week "#" ${digitsOnly}`],
      ['0 0 ? * *', `day of month "?" ${digitsOnly}`],
      ['* * \u0661 * *', `day of month U+0661 ${digitsOnly}`],
      ['\u{1f600} * * * *', `minute U+1F600 ${digitsOnly}`],
      ['\ud800 * * * *', `minute U+D800 ${digitsOnly}`],
    ],
  ],
  [
    'of numbers, ranges, * or steps, none of them empty',
    [
      ...['5*', '*5', '**', '1-5*', '*/5*', '*-5', '-5', '1-', '-', '1-2-3', '1--2', '*/'],
      ...['/', '*/5/2', '*/-5', '*/1-5'],
    ]
      .map((item): [string, string] => [`${item} * * * *`, `minute ${item} ${shape}`])
      .concat([
        [', * * * *', `minute ${emptyItem}`],
        ['1,,2 * * * *', `minute ${emptyItem}`],
        ['* * * * 1,', `day of week ${emptyItem}`],
      ]),
  ],
  [
    'with steps over * or a range',
    [
      ['0/15 * * * *', `minute step 0/15 ${needsRange}`],
      ['* * /15 * *', `day of month step /15 ${needsRange}`],
      ['*/0 * * * *', 'minute step 0 is outside 1-60'],
      ['0-10/00 * * * *', 'minute step 0 is outside 1-60'],
      ['*/61 * * * *', 'minute step 61 is outside 1-60'],
      ['* */30 * * *', 'hour step 30 is outside 1-24'],
      ['* * 1-2/32 * *', 'day of month step 32 is outside 1-31'],
      ['* * * */13 *', 'month step 13 is outside 1-12'],
      ['* * * * */8', 'day of week step 8 is outside 1-7'],
    ],
  ],
  [
    'with numbers inside their field, and ascending ranges',
    [
      ['007 * * * *', `minute 007 ${tooLong}`],
      ['0-059 * * * *', `minute 0-059 ${tooLong}`],
      ['*/100 * * * *', `minute */100 ${tooLong}`],
      ['1,2,60 * * * *', 'minute 60 is outside 0-59'],
      ['* 24 * * *', 'hour 24 is outside 0-23'],
      ['* * 0 * *', 'day of month 0 is outside 1-31'],
      ['* * 32 * *', 'day of month 32 is outside 1-31'],
      ['* * * 00-12 *', 'month 0 is outside 1-12'],
      ['* * * 13 *', 'month 13 is outside 1-12'],
      ['* * * * 8', 'day of week 8 is outside 0-7'],
      ['50-10 * * * *', 'minute range 50-10 runs backwards'],
      ['* 22-6/2 * * *', 'hour range 22-6/2 runs backwards'],
      ['* * * * 7-1', 'day of week range 7-1 runs backwards'],
    ],
  ],
  [
    'with a literal * in one of the day fields',
    [
      ...['0 0 1 * 1', '0 0 */1 * 1', '0 0 1-31 * 1', '0 0 *,1 * 1', '0 0 1 * 0-6'],
      ...['0 0 1 * */1', '0 0 31 2 1'],
    ].map((expression) => [expression, bothDays]),
  ],
  [
    'with a day that exists in some chosen month',
    [
      ['0 0 30-31 2 *', 'never runs: 30 or 31 February does not exist'],
      ['0 0 31 4,6 *', 'never runs: 31 April or June does not exist'],
      ['0 0 31 2,4,6 *', 'never runs: 31 February, April or June does not exist'],
    ],
  ],
]

test.each(REFUSED)('A schedule is %s', (_, rows) => {
  for (const [expression, message] of rows) {
    const refusal = refusalOf(() => parseSchedule(expression))
    const told = [expression, refusal?.kind, refusal?.message]
    expect(told).toEqual([expression, 'invalid', `schedule: ${message}`])
  }
})

test('Every form of item is accepted, and blanks and tabs around the fields change nothing', () => {
  for (const expression of [
    ...['* * * * *', '00 07 * * 1', '09 09 09 09 *', '59 23 31 12 *', '*/1 */1 */1 */1 *'],
    ...['*/60 */24 */31 */12 *', '* * * * */7', '0-59/60 0-23/24 1-31/31 1-12/12 *'],
    ...['5-5 5-5 5-5 5-5 *', '0,0,0,0-3,*,*/7 * * * *', '* * *,1 * *', '* * * * 0,7'],
    ...['0 0 29 2 *', '0 0 31 1,2 *', '0 0 29-31 2 *', '0 0 31 * *'],
  ])
    expect(parseSchedule(expression).next(0)).toBeNumber()
  for (const expression of ['*\t* * *\t*', '  *   * \t * *  *', '\t* * * * *\t'])
    expect(parseSchedule(expression).next(0)).toBe(60_000)
})

test('A schedule has at most 255 characters as sent, and a longer one is refused before it is read', () => {
  const long = `${Array.from({ length: 50 }, (_, i) => i + 10).join(',')} `.padEnd(247, ' ')
  expect(parseSchedule(`${long}* * * *`.padEnd(255)).next(0)).toBe(600_000)
  const lengthOnly = (target: { length: number }, key: string | symbol) => {
    if (key === 'length') return target.length
    throw new Error(`read ${String(key)} of a text that is too long`)
  }
  const unreadable = new Proxy({ length: 256 }, { get: lengthOnly }) as unknown as string
  for (const text of [`${long}* * * *`.padEnd(256), unreadable]) {
    const refusal = refusalOf(() => parseSchedule(text))
    expect(refusal?.message).toBe('schedule: must have at most 255 characters')
  }
})
