/**
 * Takes up what is due half a minute from now and waits for the target, which does not answer:
 * this process is killed by the test that started it. Arguments: data directory and time.
 */
import { bootProcess } from './processes.ts'

const [dataDir = '', now] = process.argv.slice(2)
const { clock } = await bootProcess({
  dataDir,
  now: Number(now),
  pid: process.pid,
  othersRun: true,
})
await clock.advance(30_000)
