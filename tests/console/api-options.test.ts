import { expect, test } from 'bun:test'
import { useConsole } from './fixture.ts'

const app = await useConsole()
const { paths } = (await app.raw('/openapi.json')).body

test.each([
  ['/jobs/new', '/v1/clockwork/jobs'],
  ['/delayed/new', '/v1/clockwork/delayed'],
  ['/endpoints/new', '/v1/relay/endpoints'],
])('%s has every option that the API has', async (form, route) => {
  const { owner } = await app.newTenant()
  const { html } = await owner.open(form)
  const { properties } = paths[route].post.requestBody.content['application/json'].schema
  const fields = [...html.matchAll(/<(?:input|select|textarea)[^>]* name="([^"]*)"/g)]
  const names = new Set(fields.map(([, name]) => name))
  expect(Object.keys(properties).filter((option) => !names.has(option))).toEqual([])
})
