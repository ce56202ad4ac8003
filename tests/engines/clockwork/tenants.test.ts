import { expect, test } from 'bun:test'
import { bootFixture, HALF_MINUTE, jobsOf } from './support.ts'

// Keys, scopes and foreign ids are in tests/contract/access.test.ts.

test('A tenant at its limit of jobs does not limit others', async () => {
  await using own = await bootFixture()
  const other = await own.app.tenant('Other')
  await own.createJob()
  own.app.db.client
    .prepare('update job_counts set cron_jobs = 10000 where tenant_id = ?')
    .run(own.acme.id)
  await jobsOf(other.api, own.target.url).createJob()
})

test('Jobs of two tenants run, each with executions of its own', async () => {
  await using own = await bootFixture()
  const other = jobsOf((await own.app.tenant('Other')).api, own.target.url)
  const [mine, theirs] = [await own.createJob(), await other.createJob()]

  await own.clock.advance(HALF_MINUTE)

  expect(await own.executionsOf(mine)).toMatchObject([{ job_id: mine.id }])
  expect(await other.executionsOf(theirs)).toMatchObject([{ job_id: theirs.id }])
  expect(own.target.requests).toHaveLength(2)
})
