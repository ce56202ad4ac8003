import { Database } from 'bun:sqlite'
import { dayOf, monthOf } from '../../src/platform/metering/months.ts'
import type { TestApp } from './app.ts'

/**
 * Sets how many requests a tenant has made this month, as if it had sent them. Uses a connection of
 * its own, as another process would, so that the application reads the number anew.
 */
export function countRequests(
  { db, clock }: Pick<TestApp, 'db' | 'clock'>,
  tenantId: string,
  n: number,
) {
  using client = new Database(db.file)
  client
    .query(
      `INSERT INTO usage_months
         (tenant_id, month, requests, billed, cost_cents, allowance_told, spend_cap_told)
       VALUES (?, ?, ?, 0, 0, 0, 0)`,
    )
    .run(tenantId, monthOf(dayOf(clock.now())), n)
}
