import { readNotices } from '../platform/notices.ts'
import { COMMIT, VERSION } from '../platform/version.ts'
import type { Answer, Command } from './command.ts'

export const version: Command = {
  name: 'version',
  summary: 'Show version, commit and platform.',
  options: {
    notices: { type: 'boolean', help: 'Print the licenses of the bundled software instead.' },
  },
  runBare: ({ options }) => (options.notices === true ? notices() : numbers()),
}

async function notices(): Promise<Answer> {
  const text = await readNotices()
  return { json: { notices: text }, text: text.trimEnd() }
}

function numbers(): Answer {
  const platform = `${process.platform}-${process.arch}`
  const json = { version: VERSION, commit: COMMIT, bun: Bun.version, platform }
  return { json, text: `gatehouse ${VERSION} (${COMMIT}), Bun ${Bun.version}, ${platform}` }
}
