import { COMMIT, VERSION } from '../platform/version.ts'
import type { Command } from './command.ts'

export const version: Command = {
  name: 'version',
  summary: 'Show version, commit and platform.',
  runBare: () => {
    const platform = `${process.platform}-${process.arch}`
    const json = { version: VERSION, commit: COMMIT, bun: Bun.version, platform }
    return { json, text: `gatehouse ${VERSION} (${COMMIT}), Bun ${Bun.version}, ${platform}` }
  },
}
