import { expect, test } from 'bun:test'
import { firstSteps } from '../../src/cli/first-steps.ts'
import { testIo } from '../support/cli.ts'
import { testConfig } from '../support/config.ts'

type Given = Partial<Parameters<typeof firstSteps>[0]> & { isWatched?: boolean }

const shown = ({ isWatched = true, ...given }: Given = {}, flags: Record<string, string> = {}) =>
  firstSteps({
    ...{ io: testIo('/', { isWatched }), config: testConfig(flags), port: 8420, uid: 0 },
    ...{ setUpToken: 'TOKEN', hasTenant: false, ...given },
  })

test('In the log of a service, the first steps name the account to run them as', () => {
  expect(shown({ isWatched: false, uid: 998 })).toContain(
    "\n(as the server's account, uid 998: with sudo -u '#998', or in its container)\n\n  gatehouse",
  )
  for (const uid of [0, undefined]) expect(shown({ isWatched: false, uid })).not.toContain('(as')
  expect(shown({ uid: 998 })).not.toContain('(as')
})

test('The setup link is on a line of its own, at the address of the installation', () => {
  const local = 'works once, for 30 minutes.\n\n  http://127.0.0.1:8420/setup/TOKEN\n'
  expect(shown()).toContain(local)
  const atAddress = shown({}, { 'server-base-url': 'https://example.com/gate/' })
  expect(atAddress).toContain('\n  https://example.com/gate/setup/TOKEN\n')
  expect(atAddress).not.toContain('another address')
  expect(shown({}, { 'server-host': '0.0.0.0' })).toContain(
    'uses another address, replace\nhttp://127.0.0.1:8420 with it. To change it permanently, set [server] base_url',
  )
})

test('What is missing decides which commands are shown', () => {
  const operator = 'gatehouse operator create --data-dir /nowhere/data --admin --email'
  const tenant = 'gatehouse tenant create --data-dir /nowhere/data --name Acme\n'
  const job = 'curl http://127.0.0.1:8420/v1/clockwork/jobs'
  for (const [given, there, absent] of [
    [{}, ['/setup/TOKEN', tenant, job], []],
    [{ setUpToken: undefined }, [tenant, job], ['/setup/']],
    [{ hasTenant: true }, ['/setup/TOKEN\n', operator], ['tenant create']],
  ] as [Given, string[], string[]][]) {
    const text = shown(given)
    for (const words of there) expect(text).toContain(words)
    for (const words of absent) expect(text).not.toContain(words)
  }
  expect(shown({ setUpToken: undefined, hasTenant: true })).toBe('')
})
