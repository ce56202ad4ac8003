import { afterAll } from 'bun:test'
import type { NewAlert } from '../../../src/platform/alerts/index.ts'
import { type TestApp, type TestAppOptions, useApp } from '../../support/app.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { startTarget } from '../../support/target.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const ACTOR = { kind: 'cli', source: 'test' } as const

/** The application of a test file with a real mail server. */
export async function useNotifications(options: TestAppOptions & { withoutMail?: true } = {}) {
  const mailServer = await startMailServer()
  const smtp = { 'mail-from': 'Gatehouse <gate@example.org>' }
  const env = { GATEHOUSE_MAIL_SMTP_URL: mailServer.url }
  const app = await useApp(
    options.withoutMail ? options : { ...options, flags: { ...smtp, ...options.flags }, env },
  )
  afterAll(() => mailServer[Symbol.asyncDispose]())

  async function party(name = 'Acme') {
    const tenant = await app.tenant(name)
    const target = startTarget()
    afterAll(() => target.stop())
    return { ...tenant, target, ...verbs(app, tenant.id) }
  }

  return { app, clock: app.clock, mailServer, party, installation: verbs(app, null) }
}

function verbs(app: TestApp, tenantId: string | null) {
  const { alerts } = app.platform
  const key = { tenantId, kind: 'job.failed', subject: 'job:1' } as const
  const alert: NewAlert = { ...key, name: 'Nightly', text: 'Status 500.', path: '/jobs/1' }
  return {
    /** Opens an alert, and waits until it was told. */
    async fail(fields: Partial<NewAlert> = {}) {
      await app.db.commit(() => alerts.open({ ...alert, ...fields }))
      await app.clock.settled()
    },
    async recover() {
      await app.db.commit(() => alerts.resolve(key))
      await app.clock.settled()
    },
    addChannel: async (channel: Parameters<TestApp['notifications']['channels']['create']>[2]) =>
      (await app.notifications.channels.create(tenantId, ACTOR, channel)).channel,
    channels: () => app.notifications.channels.list(tenantId),
    log: () => app.notifications.log(tenantId, { limit: 200 }),
  }
}
