/** Checks a password so many times, as many at once as there are cores, and says how long it took. */
import { availableParallelism } from 'node:os'

const [password = '', hash = ''] = process.argv.slice(2)

async function check(count: number): Promise<number> {
  const rest = Array.from({ length: count }).values()
  async function checkSome() {
    for (const _ of rest)
      if (!(await Bun.password.verify(password, hash))) throw new Error('the password is wrong')
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: availableParallelism() }, checkSome))
  return performance.now() - start
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 255,
  fetch: async ({ url }) =>
    Response.json({ ms: await check(Number(new URL(url).searchParams.get('count'))) }),
})
console.log(JSON.stringify({ url: server.url.origin }))
