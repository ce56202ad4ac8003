import { Elysia } from 'elysia'
import { ConfigurationPage } from '../../../../views/console/pages/admin/configuration.tsx'
import { type Config, describeConfig, type Origins } from '../../../config/index.ts'
import type { Layout } from '../../layout.ts'
import type { ConsoleMiddleware } from '../../middleware.ts'

/** The effective settings without secrets, as in `config show`. */
export function configurationPage(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  config: Config
  origins: Origins | undefined
}) {
  const { middleware, layout, config, origins } = parts
  const rows = describeConfig(config, origins ?? new Map())
  return new Elysia({ name: 'configuration page', detail: { hide: true } }).use(middleware).get(
    '/console/admin/configuration',
    ({ request, operator }) => {
      const params = new URL(request.url).searchParams
      const children = ConfigurationPage({
        base: layout.base(),
        rows,
        hasOrigins: origins !== undefined,
        q: params.get('q')?.trim() ?? '',
        isSetOnly: params.get('set') === 'true',
      })
      const title = 'Configuration'
      return layout.page({ request, operator, title, active: 'configuration', children })
    },
    { instance: true },
  )
}
