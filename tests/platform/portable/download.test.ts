import { expect, test } from 'bun:test'
import { PORTABLE_TABLES } from '../../../src/console/portable-tables.ts'
import { createTenantDownload } from '../../../src/platform/portable/download.ts'
import { bootTestApp } from '../../support/app.ts'
import { ACTOR } from './fixture.ts'

test('A process makes one export at a time, and cuts off one that nobody reads', async () => {
  await using app = await bootTestApp()
  const { id } = await app.tenant()
  const downloads = createTenantDownload({
    ...{ ...app.platform, tables: PORTABLE_TABLES, schema: 'any', keyPrefix: 'svc' },
  })
  const start = () => downloads.start(ACTOR, id)
  const stalled = await start()
  await expect(start()).rejects.toThrow('another export is running')
  await app.clock.advance(600_000)
  await expect(stalled.text()).rejects.toThrow('took too long')
  const unread = await start()
  await unread.body?.cancel()
  expect((await (await start()).text()).trimEnd().split('\n')).toHaveLength(4)
})
