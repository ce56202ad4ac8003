import { expect, setSystemTime, test } from 'bun:test'
import { createObjectStorage } from '../../src/platform/object-storage/index.ts'
import { createReports } from '../../src/platform/replication/reports.ts'
import { startS3Server } from '../support/s3-server.ts'

const DAY = 86_400_000

test('Of reports with one name the newest counts, and servers that are gone for a week are left out', async () => {
  using s3 = startS3Server()
  const reports = createReports({
    ...{ storage: createObjectStorage(s3.settings), to: 's3://bucket/gatehouse' },
  })
  const write = (id: string, name: string, reportedAt: number) =>
    reports.write({
      ...{ id, name, version: '1', isReady: true, lagMs: 0, setAside: [], reportedAt },
    })
  await write('a', 'oslo', 2)
  await write('b', 'bergen', 3)
  await write('c', 'oslo', 1)
  const shown = async () => (await reports.list()).map(({ id }) => id)
  expect(await shown()).toEqual(['b', 'a'])
  try {
    setSystemTime(Date.now() + 8 * DAY)
    expect(await shown()).toEqual([])
  } finally {
    setSystemTime()
  }
})
