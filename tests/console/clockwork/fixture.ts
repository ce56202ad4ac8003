import { expect } from 'bun:test'
import type { Role } from '../../../src/console/operators/rights.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import { formBody } from '../../support/form.ts'
import { newOperator } from '../../support/operator.ts'
import { startTarget } from '../../support/target.ts'

export const NOBODYS = '01900000-0000-7000-8000-000000000000'

/** What a page has to survive: markup, marks that turn text round, and more than fits. */
export const HOSTILE = [
  '<script>alert(1)</script>',
  '\u202egnp.exe\u2066',
  '"><img src=x onerror=alert(1)>',
] as const

/** The application and one target for jobs. */
export async function jobsFixture() {
  const app = await bootTestApp()
  const target = startTarget()
  const stop = async () => {
    await target.stop()
    await app.stop()
  }
  return { app, target, stop }
}

/** Somebody at the console: pages by GET, forms by POST. */
export async function at(app: TestApp, options: Parameters<typeof newOperator>[1]) {
  const operator = await newOperator(app, options)
  const { headers } = await operator.signIn()
  return {
    id: operator.id,
    see: (path: string) => app.raw(`/console${path}`, { headers }),
    send: (path: string, fields: Record<string, string> = {}) =>
      app.raw(`/console${path}`, { method: 'POST', headers, body: formBody(app, headers, fields) }),
  }
}

export type Person = Awaited<ReturnType<typeof at>>

/** A tenant of its own with somebody in the role. */
export async function tenantWith(app: TestApp, role: Role = 'owner') {
  const tenant = await app.tenant()
  return { ...tenant, ...(await at(app, { roles: { [tenant.id]: role } })), tenantId: tenant.id }
}

/** What is in the list of a page, without what stands around it. */
export const listed = (page: string): string =>
  /<table class="rows">.*?<\/table>/s.exec(page)?.[0] ?? ''

/** The address behind a link of the pager, by its `rel`. */
export const pageTo = (page: string, rel: 'prev' | 'next'): string =>
  new RegExp(`rel="${rel}" href="/console([^"]+)"`).exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''

/** Where a form leads, less what it says there. */
export function landed(answer: { status: number; headers: Headers }): string {
  expect(answer.status).toBe(303)
  return answer.headers.get('location')?.split('?')[0]?.replace('/console', '') ?? ''
}

/** Who each door lets in, by its method and path behind the prefix. */
export async function admitted(app: TestApp, tenantId: string, method: string, path: string) {
  const open = async (options: Parameters<typeof newOperator>[1]) => {
    const { see, send } = await at(app, options)
    return (await (method === 'GET' ? see(path) : send(path))).status
  }
  return {
    stranger: (await app.raw(`/console${path}`, { method })).status,
    installation: await open({ isAdmin: true }),
    elsewhere: await open({ roles: { [(await app.tenant()).id]: 'owner' } }),
    viewer: await open({ roles: { [tenantId]: 'viewer' } }),
    member: await open({ roles: { [tenantId]: 'member' } }),
    owner: await open({ roles: { [tenantId]: 'owner' } }),
  }
}
