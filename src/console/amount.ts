import { invalid } from '../platform/errors.ts'

/** An amount in currency units, with a decimal point or comma and at most two decimals. */
const AMOUNT = /^(\d{1,13})(?:[.,](\d{1,2}))?$/

/** Parses a spend cap from a form, such as `20` or `20.50`, to cents. */
export function centsIn(amount: string): number {
  const [, whole, rest = ''] = AMOUNT.exec(amount) ?? []
  if (whole === undefined)
    throw invalid('must be an amount such as 20 or 20.50, without a currency', {
      field: 'spend_cap_cents',
      rule: 'format',
    })
  return Number(whole) * 100 + Number(rest.padEnd(2, '0'))
}
