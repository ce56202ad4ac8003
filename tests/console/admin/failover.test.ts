import { expect, test } from 'bun:test'
import { failoverPage } from '../../../src/console/pages/installation/failover.tsx'
import type { Lease } from '../../../src/platform/replication/lease.ts'
import { openSharedFolder, type PairState } from '../../../src/platform/replication/pair.ts'
import type { Report } from '../../../src/platform/replication/reports.ts'
import { testConfig } from '../../support/config.ts'
import { startS3Server } from '../../support/s3-server.ts'
import { audited, HOUR, useConsole } from '../fixture.ts'
import { pageWith } from '../page-with.ts'

const FAILOVER = '/installation/failover'

const app = await useConsole()
const admin = await app.newAdmin()

const now = app.clock.now()
const [OSLO, BERGEN] = [
  { id: 'a', name: 'oslo' },
  { id: 'b', name: 'bergen' },
]
const STANDBY: Report = {
  ...{ ...BERGEN, version: '0.0.1', isReady: true, lagMs: 250, setAside: [], reportedAt: now },
}
const STATE: PairState = {
  lease: { generation: 4, server: OSLO, since: now - HOUR, cause: 'first', ttlMs: 10_000 },
  ...{ problem: undefined, standbys: [STANDBY], standbyAt: now, setAside: [] },
}
const AUTO = {
  'replication-role': 'auto',
  'replication-to': 's3://bucket/gatehouse',
  'replication-acknowledge': 'replicated',
  'database-external-checkpoint': 'true',
}

const KEY = { GATEHOUSE_S3_ACCESS_KEY_ID: 'a', GATEHOUSE_S3_SECRET_ACCESS_KEY: 'b' }

const pageIn = (state: PairState | undefined, config = testConfig(AUTO, KEY)) =>
  pageWith(app, admin.cookie, failoverPage, { config, replication: { pair: () => state } })

const shown = (state: PairState | undefined) => pageIn(state).open(FAILOVER)

test('A server on its own shows how to add a standby, and has nothing to step down for', async () => {
  const page = await admin.open(FAILOVER)
  page.says('One server.', 'role = "auto"').omits('Step down', 'every 2s')
  await admin.send('/console/installation/failover/step-down', {})
  expect(audited(app, 'server.stepped_down')).toEqual([])
})

test('A server that has only started looks again', async () => {
  ;(await shown(undefined)).says('Looking for the other servers.', 'every 2s').omits('Step down')
})

test('The page says who is active and how that came about, who could take over, and who could not', async () => {
  const { text } = (await shown(STATE)).omits('Needs attention')
  for (const pattern of [
    /oslo is active\. 1 standby is ready to take over\./,
    /Became active First start Acknowledges writes Once they are in object storage Generation 4/,
    /bergen .*Ready.* – .*250 ms.* 0\.0\.1/,
  ])
    expect(text).toMatch(pattern)

  const from = { from: BERGEN, cause: 'expiry', lossMs: 2500 } as const
  const [hostile, reason] = ['<b>bergen</b>', 'it lacks <i>master.key</i>']
  const others = [
    { ...STANDBY, name: hostile, isReady: false, reason },
    { ...STANDBY, id: 'c', name: 'trondheim', reportedAt: now - HOUR, setAside: ['/data/1'] },
  ]
  const lease = { ...STATE.lease, ...from }
  const bad = await shown({ ...STATE, lease, standbys: others, standbyAt: 0, setAside: ['/d/2'] })
  bad
    .says('oslo is active. No standby is ready', 'Took over from bergen, which had stopped')
    .says('Writes of its last 2.50 s', '&lt;i>master.key', 'It has not reported lately')
    .says('oslo keeps a database', 'delete /d/2', 'trondheim keeps a database', 'delete /data/1')
    .omits(hostile, '<i>master', 'Step down')
  const handed = { ...STATE.lease, from: BERGEN, cause: 'handover' as const }
  ;(await shown({ ...STATE, lease: handed, problem: 'HTTP 500' }))
    .says('Handed over by bergen', "This server can't renew its lease", 'HTTP 500')
    .omits('Possible loss')
})

test('Step down asks the active server to hand over, and is in the audit log', async () => {
  using s3 = startS3Server()
  const config = testConfig(AUTO, s3.env)
  const { leases, reports } = openSharedFolder(config)
  const lease = {
    ...STATE.lease,
    ...{ format: 1, version: '1', nonce: 'n', renewal: 1, state: 'held', path: 'generations/p' },
    ...{ bases: [], obsolete: [], schema: '', renewedAt: now, acknowledge: 'replicated' },
  } as Lease
  await leases.write(lease, 'absent')
  const { press } = pageIn(STATE, config)
  ;(await press(FAILOVER, 'Step down')).says('There is no standby that could take over')
  await reports.write(STANDBY)
  ;(await press(FAILOVER, 'Step down', { to: 'nowhere' })).says('there is no standby nowhere')
  expect((await leases.read())?.lease.handover).toBeUndefined()
  expect(audited(app, 'server.stepped_down')).toEqual([])

  ;(await press(FAILOVER, 'Step down', { to: 'bergen' })).says('Stepping down.')
  expect((await leases.read())?.lease.handover).toEqual({
    to: 'b',
    by: `operator:${admin.id}`,
    at: now,
  })
  expect(audited(app, 'server.stepped_down')).toMatchObject([
    { actor_id: admin.id, object: 'server:a', detail: '{"server":"oslo","to":"bergen"}' },
  ])
})
