import { beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { compileBinary, type Server, until } from '../../support/binary.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { startTarget, type Target } from '../../support/target.ts'
import {
  DELIVERIES,
  ENDPOINTS,
  IDENTITIES,
  JOBS,
  MESSAGES,
  numbers,
  person,
} from './support/api.ts'
import { openInstallation } from './support/installation.ts'
import { eventId, openRelay } from './support/relay.ts'
import { wellUntil } from './support/waiting.ts'

beforeAll(compileBinary, 120_000)

test('A copy served with --paused accepts everything and sends nothing; without it everything due is sent once', async () => {
  await using stack = new AsyncDisposableStack()
  const smtp = stack.use(await startMailServer())
  smtp.refuses('connect', 421, 'not now')
  const never = new Promise<Response>(() => {})
  const [taking, refusing, silent] = [
    stack.use(startTarget()),
    stack.use(startTarget(() => new Response('not now', { status: 503 }))),
    stack.use(startTarget(() => never)),
  ]
  const targets = [taking, refusing, silent]
  const settings = {
    GATEHOUSE_MAIL_SMTP_URL: smtp.url,
    GATEHOUSE_MAIL_FROM: 'Gatehouse <gatehouse@example.org>',
    GATEHOUSE_RELAY_RETRY_DELAYS: '10m',
  }
  const { installation, server, tenant, relay } = await openRelay(stack, { settings })
  const clockwork = await installation.newClient(tenant, 'clockwork')
  const gate = await installation.newClient(tenant, 'gate')
  for (const [n, { url }] of targets.entries())
    await relay.make(server, 'POST', ENDPOINTS, { url, event_types: [`to.${n}`] })

  const sendTo = (at: Server, target: Target): Promise<string[]> =>
    Promise.all(
      numbers(5).map(async () => {
        const event = { event_type: `to.${targets.indexOf(target)}`, payload: {} }
        return (await relay.make(at, 'POST', MESSAGES, event)).id
      }),
    )
  const schedule = (at: Server, name: string, inMs: number) => {
    const run_at = new Date(Date.now() + inMs).toISOString()
    return clockwork.make(at, 'POST', JOBS, { name, url: `${taking.url}/${name}`, run_at })
  }
  const mailTo = async (at: Server, n: number) => {
    const { id } = await gate.make(at, 'POST', IDENTITIES, person(n))
    await gate.make(at, 'POST', `${IDENTITIES}/${id}/resend-verification`)
  }
  const eventsAt = ({ requests }: Target) => requests.map(eventId).filter(Boolean).toSorted()
  const jobsAt = ({ requests }: Target) =>
    requests.flatMap(({ path }) => /^\/hook\/(.+)/.exec(path)?.[1] ?? []).toSorted()
  const count = (rows: string) => installation.rows(`SELECT 1 FROM ${rows}`).length

  await sendTo(server, taking)
  const refused = await sendTo(server, refusing)
  const underWay = await sendTo(server, silent)
  await schedule(server, 'done', 300)
  await schedule(server, 'later', 2500)
  await mailTo(server, 1)
  await until(() => jobsAt(taking).length === 1 && eventsAt(silent).length === 5)
  await until(() => count("deliveries WHERE state = 'succeeded'") === 5)
  await until(() => count("deliveries WHERE state = 'waiting'") === 5)
  await until(() => count("mails WHERE state = 'waiting' AND tries = 1") === 1)
  await until(() => count("runs WHERE state = 'waiting'") === 1)
  await installation.done('backup', '--to', join(installation.cwd, 'night.tar.gz'))
  await server.kill()

  const copy = openInstallation(stack, { settings })
  await copy.done('restore', join(installation.cwd, 'night.tar.gz'))
  copy.change('UPDATE deliveries SET due_at = 1 WHERE due_at IS NOT NULL')
  copy.change('UPDATE mails SET due_at = 1')
  smtp.recovers()
  smtp.connections.count = 0
  for (const target of targets) {
    target.answers(() => new Response('ok'))
    target.requests.length = 0
  }

  const paused = await copy.serve('--paused')
  const fresh = await sendTo(paused, taking)
  await schedule(paused, 'fresh', 300)
  await mailTo(paused, 2)
  const [last] = copy.rows<{ due: number }>('SELECT max(due_at) AS due FROM runs')
  const inMs = (last?.due ?? 0) - Date.now()
  await wellUntil(paused, performance.now() + Math.max(inMs, 0) + 1500)
  expect(await relay.walk(paused, MESSAGES)).toHaveLength(20)
  expect((await fetch(`${paused.url}/readyz`)).status).toBe(200)
  expect(targets.flatMap(({ requests }) => requests)).toEqual([])
  expect(smtp.connections.count).toBe(0)
  expect(await paused.terminate()).toBe(0)

  const awake = await copy.serve()
  await until(() => targets.every((target) => eventsAt(target).length >= 5), awake.out)
  await until(() => jobsAt(taking).length >= 2 && smtp.received.length >= 2, awake.out)
  const isOver = async () =>
    (await relay.walk(awake, DELIVERIES)).every(({ status }) => status === 'succeeded')
  await until(isOver, awake.out)
  expect(eventsAt(taking)).toEqual(fresh.toSorted())
  expect(eventsAt(refusing)).toEqual(refused.toSorted())
  expect(eventsAt(silent)).toEqual(underWay.toSorted())
  expect(jobsAt(taking)).toEqual(['fresh', 'later'])
  const recipients = smtp.received.flatMap(({ to }) => to)
  expect(recipients.toSorted()).toEqual(['p-1@example.com', 'p-2@example.com'])
}, 300_000)

test('A copy served with --paused deletes no backup of its original', async () => {
  await using stack = new AsyncDisposableStack()
  const { path: directory } = stack.use(temporaryFolder())
  const settings = {
    GATEHOUSE_BACKUP_ENABLED: 'true',
    GATEHOUSE_BACKUP_EVERY: '1m',
    GATEHOUSE_BACKUP_KEEP: '1',
    GATEHOUSE_BACKUP_DIRECTORY: directory,
  }
  const { installation, server } = await openRelay(stack, { settings })
  const good = () => installation.rows('SELECT 1 FROM backups WHERE bytes IS NOT NULL').length
  await until(() => good() === 1, server.out)
  const [original] = readdirSync(directory)
  await installation.done('backup', '--to', join(installation.cwd, 'night.tar.gz'))

  const copy = openInstallation(stack, { settings })
  await copy.done('restore', join(installation.cwd, 'night.tar.gz'))
  copy.change('UPDATE backups SET started_at = started_at - 61000, ended_at = ended_at - 61000')
  const paused = await copy.serve('--paused')
  await wellUntil(paused, performance.now() + 1000)
  await paused.terminate()

  expect(readdirSync(directory)).toContain(`${original}`)
}, 300_000)
