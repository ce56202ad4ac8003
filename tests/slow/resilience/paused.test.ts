import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Server, until } from '../../support/binary.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { startTarget, type Target } from '../../support/target.ts'
import { ENDPOINTS, eventId, IDENTITIES, JOBS, MESSAGES, person } from './support/api.ts'
import { openInstallation } from './support/installation.ts'
import { openRelay } from './support/relay.ts'

test('A copy served with --paused accepts everything, sends nothing and deletes no backup; without it everything due is sent once', async () => {
  await using stack = new AsyncDisposableStack()
  const smtp = stack.use(await startMailServer())
  smtp.refuses('connect', 421, 'not now')
  const never = new Promise<Response>(() => {})
  const taking = stack.use(startTarget())
  const refusing = stack.use(startTarget(503))
  const silent = stack.use(startTarget(() => never))
  const targets = [taking, refusing, silent]
  const { path: directory } = stack.use(temporaryFolder())
  const settings = {
    GATEHOUSE_MAIL_SMTP_URL: smtp.url,
    GATEHOUSE_MAIL_FROM: 'Gatehouse <gatehouse@example.org>',
    GATEHOUSE_RELAY_RETRY_DELAYS: '10m',
    GATEHOUSE_BACKUP_ENABLED: 'true',
    GATEHOUSE_BACKUP_EVERY: '1m',
    GATEHOUSE_BACKUP_KEEP: '1',
    GATEHOUSE_BACKUP_DIRECTORY: directory,
  }
  const { installation, server, tenant, relay } = await openRelay(stack, { settings })
  const clockwork = installation.newClient(tenant, 'clockwork')
  const gate = installation.newClient(tenant, 'gate')
  for (const [n, { url }] of targets.entries())
    await relay.make(server, 'POST', ENDPOINTS, { url, event_types: [`to.${n}`] })

  async function sendTo(at: Server, target: Target): Promise<string[]> {
    const event = { event_type: `to.${targets.indexOf(target)}`, payload: {} }
    const send = async () => (await relay.make(at, 'POST', MESSAGES, event)).id
    return [await send(), await send()]
  }
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

  await sendTo(server, taking)
  const refused = await sendTo(server, refusing)
  const underWay = await sendTo(server, silent)
  await schedule(server, 'done', 1000)
  await schedule(server, 'later', 60_000)
  await mailTo(server, 1)
  await until(() => jobsAt(taking).length === 1 && eventsAt(silent).length === 2)
  for (const [rows, expected] of [
    ["deliveries WHERE state = 'succeeded'", 2],
    ["deliveries WHERE state = 'waiting'", 2],
    ["mails WHERE state = 'waiting' AND tries = 1", 1],
    ["runs WHERE state = 'waiting'", 1],
    ['backups WHERE bytes IS NOT NULL', 1],
  ] as const)
    await until(() => installation.count(rows) === expected, server.out)
  const [original] = readdirSync(directory)
  const archive = join(installation.cwd, 'night.tar.gz')
  await installation.done('backup', '--to', archive)
  await server.kill()

  const copy = openInstallation(stack, { settings })
  await copy.done('restore', archive)
  for (const due of ['deliveries SET due_at = 1 WHERE due_at IS NOT NULL', 'mails SET due_at = 1'])
    copy.change(`UPDATE ${due}`)
  copy.change("UPDATE runs SET due_at = 1 WHERE state = 'waiting'")
  copy.change('UPDATE backups SET started_at = started_at - 61000, ended_at = ended_at - 61000')
  smtp.recovers()
  smtp.connections.count = 0
  for (const target of targets) {
    target.answers(() => new Response('ok'))
    target.requests.length = 0
  }

  const paused = await copy.serve('--paused')
  const fresh = await sendTo(paused, taking)
  await schedule(paused, 'fresh', 1000)
  await mailTo(paused, 2)
  // Nothing can be waited for: past the tick of the new job, and what would be sent at once.
  await Bun.sleep(1600)
  expect(await relay.walk(paused, MESSAGES)).toHaveLength(8)
  expect((await fetch(`${paused.url}/readyz`)).status).toBe(200)
  expect(targets.flatMap(({ requests }) => requests)).toEqual([])
  expect(smtp.connections.count).toBe(0)
  expect(await paused.terminate()).toBe(0)
  expect(readdirSync(directory)).toEqual([`${original}`])

  const awake = await copy.serve()
  await until(() => targets.every((target) => eventsAt(target).length >= 2), awake.out)
  await until(() => jobsAt(taking).length >= 2 && smtp.received.length >= 2, awake.out)
  await until(() => copy.count("deliveries WHERE state <> 'succeeded'") === 0, awake.out)
  expect(targets.map(eventsAt)).toEqual([fresh, refused, underWay].map((ids) => ids.toSorted()))
  expect(jobsAt(taking)).toEqual(['fresh', 'later'])
  const recipients = smtp.received.flatMap(({ to }) => to)
  expect(recipients.toSorted()).toEqual(['p-1@example.com', 'p-2@example.com'])
}, 300_000)
