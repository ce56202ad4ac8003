/**
 * A process beside others on a data directory.
 *
 * - `serve DIR` seals and opens mails, until a line comes in: then it tells what it has done.
 * - `rotate DIR` replaces the master key; with `inside N` or `after N` it is killed before, or
 *   after, its Nth transaction is committed.
 */
import { type Db, openDatabase } from '../../../src/db/open.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { ACTOR, openPost, rotationOn } from './fixture.ts'

const [mode = '', dataDir = '', moment = '', at = '0'] = process.argv.slice(2)
const db = openDatabase({ dataDir, synchronous: 'full' })
const post = await openPost(db, systemClock, dataDir)

if (mode === 'serve') await serve()
else await rotate()
process.exit()

async function serve() {
  let isOver = false
  void (async () => {
    for await (const _ of console) isOver = true
  })()
  const keys = new Set<string>()
  const failures: string[] = []
  let rounds = 0
  console.log('ready')
  for (; !isOver; rounds++) {
    const id = `m${process.pid}${rounds}`
    try {
      await db.commit(() => post.post(id, `text ${id.slice(1)}`))
      keys.add(post.sealed(id).slice(3, 15))
      const all = post.ids()
      const other = all[(rounds * 7919) % all.length] ?? id
      if (post.text(other) !== `text ${other.slice(1)}`) failures.push(`${other} is another`)
      if (!post.isCounted(other)) failures.push(`${other} has another fingerprint`)
      await db.commit(() => post.change(other, post.text(other)))
      post.text(other)
    } catch (error) {
      failures.push(String(error))
    }
  }
  console.log(JSON.stringify({ rounds, keys: [...keys], failures: failures.slice(0, 5) }))
}

/** Waits are a quarter as long: what others need to hear of a key is much less. */
async function rotate() {
  const clock = {
    ...systemClock,
    after: (ms: number, fn: () => void) => systemClock.after(ms / 4, fn),
  }
  const watch = { onResealed: () => {}, onWaiting: () => {} }
  const { rotate } = rotationOn(killing(db), clock, dataDir)
  console.log(JSON.stringify(await rotate(ACTOR, watch)))
}

function killing(db: Db): Db {
  let commits = 0
  const die = () => process.kill(process.pid, 'SIGKILL')
  const commit: Db['commit'] = async (work) => {
    const isLast = ++commits === Number(at)
    const value = await db.commit(() => {
      const value = work()
      if (isLast && moment === 'inside') die()
      return value
    })
    if (isLast && moment === 'after') die()
    return value
  }
  return { ...db, commit }
}
