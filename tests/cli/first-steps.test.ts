import { expect, test } from 'bun:test'
import type { Io } from '../../src/cli/command.ts'
import { firstSteps } from '../../src/cli/first-steps.ts'
import { testConfig } from '../support/config.ts'

const io: Io = {
  out: () => {},
  err: () => {},
  in: async () => '',
  isWatched: false,
  env: {},
  cwd: '/',
  program: 'gatehouse',
}
const shown = (of: { isWatched: boolean; uid: number | undefined }) =>
  firstSteps({ io: { ...io, ...of }, config: testConfig(), port: 8420, uid: of.uid })

test('in the log of a service the first steps say as whom they are taken', () => {
  expect(shown({ isWatched: false, uid: 998 })).toContain(
    "\n(as uid 998, the account of this server: with sudo -u '#998', or in its container)\n\n  gatehouse",
  )
})

test('at a terminal, as root, or where there are no accounts, there is nothing to say of it', () => {
  for (const of of [
    { isWatched: true, uid: 998 },
    { isWatched: false, uid: 0 },
    { isWatched: false, uid: undefined },
  ])
    expect(shown(of)).not.toContain('(as')
})
