import { expect, test } from 'bun:test'
import { firstSteps } from '../../src/cli/first-steps.ts'
import { testIo } from '../support/cli.ts'
import { testConfig } from '../support/config.ts'

interface Shown {
  isWatched?: boolean
  uid?: number | undefined
  setUpToken?: string | undefined
  hasTenant?: boolean
  flags?: Record<string, string>
}

const shown = ({ isWatched = true, flags, ...given }: Shown = {}) =>
  firstSteps({
    io: testIo('/', { isWatched }),
    config: testConfig(flags),
    port: 8420,
    uid: 0,
    setUpToken: 'TOKEN',
    hasTenant: false,
    ...given,
  })

test('in the log of a service, the first steps name the account to run them as', () => {
  expect(shown({ isWatched: false, uid: 998 })).toContain(
    "\n(as the server's account, uid 998: with sudo -u '#998', or in its container)\n\n  gatehouse",
  )
  for (const of of [
    { isWatched: true, uid: 998 },
    { isWatched: false, uid: 0 },
    { isWatched: false, uid: undefined },
  ])
    expect(shown(of)).not.toContain('(as')
})

test('the setup link is on a line of its own, at the address of the installation', () => {
  const local = 'works once, for 30 minutes.\n\n  http://127.0.0.1:8420/setup/TOKEN\n'
  expect(shown()).toContain(local)
  const public_ = shown({ flags: { 'server-base-url': 'https://example.com/gate/' } })
  expect(public_).toContain('\n  https://example.com/gate/setup/TOKEN\n')
  expect(public_).not.toContain('another address')
  expect(shown({ flags: { 'server-host': '0.0.0.0' } })).toContain(
    'uses another address, replace\nhttp://127.0.0.1:8420 with it. To change it permanently, set [server] base_url',
  )
})

test('what is missing decides which commands are shown', () => {
  const operator = 'gatehouse operator create --data-dir /nowhere/data --admin --email'
  const tenant = 'gatehouse tenant create --data-dir /nowhere/data --name Acme\n'
  const job = 'curl http://127.0.0.1:8420/v1/clockwork/jobs'
  for (const [given, there, absent] of [
    [{}, ['/setup/TOKEN', tenant, job], []],
    [{ setUpToken: undefined }, [tenant, job], ['/setup/']],
    [{ hasTenant: true }, ['/setup/TOKEN\n', operator], ['tenant create']],
  ] as [Shown, string[], string[]][]) {
    const text = shown(given)
    for (const words of there) expect(text).toContain(words)
    for (const words of absent) expect(text).not.toContain(words)
  }
  expect(shown({ setUpToken: undefined, hasTenant: true })).toBe('')
})
