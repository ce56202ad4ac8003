import { expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { openPage } from '../../support/page.ts'
import { MESSAGES, message } from '../resilience/support/api.ts'
import { openInstallation } from '../resilience/support/installation.ts'

const page = await openPage('scale.md')
const URL_OF_JOBS = '/v1/clockwork/jobs'
const URL_OF_DELAYED = '/v1/clockwork/delayed'

/** The commands under each comment that names a machine. */
const steps = page
  .block('sh', 'gatehouse import')
  .split(/^# (?:Old|New) machine.*$/m)
  .slice(1)

test('The commands move a tenant between two servers: its keys and jobs work on the new one, and stop on the old', async () => {
  await using stack = new AsyncDisposableStack()
  const [old, fresh] = [openInstallation(stack), openInstallation(stack)]
  const id = old.newTenant()
  const [jobs, relay] = [old.newClient(id, 'clockwork'), old.newClient(id, 'relay')]
  const [from, to] = [await old.serve(), await fresh.serve()]
  const url = 'https://example.com/'
  await jobs.make(from, 'POST', URL_OF_JOBS, { name: 'nightly', schedule: '5 12 * * *', url })
  const paused = { name: 'paused', schedule: '5 12 * * *', url, is_active: false }
  await jobs.make(from, 'POST', URL_OF_JOBS, paused)
  const run_at = new Date(Date.now() + 86_400_000).toISOString()
  await jobs.make(from, 'POST', URL_OF_DELAYED, { name: 'later', run_at, url })

  const bash = (at: typeof old, commands = '') =>
    at.inShell(`set -e
      gatehouse() { "$GATEHOUSE" "$@"; }
      ID=${id} OLD=${from.url} AUTH='Authorization: Bearer ${jobs.key}'
      ${commands}`)
  const stateAt = async (server: typeof from) => {
    const all = [
      ...(await jobs.make(server, 'GET', URL_OF_JOBS)),
      ...(await jobs.make(server, 'GET', URL_OF_DELAYED)),
    ]
    return all.map(({ name, is_active, status }) => [name, is_active ?? status]).toSorted()
  }

  expect(await bash(old, steps[0])).toBe(0)
  expect(await relay.ask(from, 'POST', MESSAGES, message(1))).toMatchObject({ status: 402 })
  expect(await stateAt(from)).toEqual([
    ['later', 'cancelled'],
    ['nightly', false],
    ['paused', false],
  ])
  cpSync(join(old.cwd, 'acme.ndjson'), join(fresh.cwd, 'acme.ndjson'))
  expect(await bash(fresh, steps[1])).toBe(0)
  expect(await stateAt(to)).toEqual([
    ['later', 'pending'],
    ['nightly', true],
    ['paused', false],
  ])
  expect(await relay.ask(to, 'POST', MESSAGES, message(2))).toMatchObject({ status: 202 })
  expect(await bash(old, steps[2])).toBe(0)
  expect(await jobs.ask(from, 'GET', URL_OF_JOBS)).toMatchObject({ status: 401 })
}, 60_000)
