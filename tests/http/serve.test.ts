import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { serve } from '../../src/http/serve.ts'
import { createLog } from '../../src/platform/log.ts'

const log = createLog({ level: 'error', format: 'text', now: () => 0, write: () => {} })

test('a port that one server has is no other’s: callers would reach either of them', async () => {
  const listen = (port: number) => serve(new Elysia(), { host: '127.0.0.1', port }, log)
  const first = listen(0)
  expect(() => listen(first.port)).toThrow('in use')
  await first.stop()
})
