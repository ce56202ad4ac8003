import { Elysia } from 'elysia'
import { ConfigurationPage } from '../../../../views/console/pages/admin/configuration.tsx'
import { type Config, describeConfig, type Origins } from '../../../config/index.ts'
import type { Frames } from '../../frame.ts'
import type { ConsoleKit } from '../../kit.ts'

/** The effective settings without secrets, as in `config show`. */
export function configurationPage(parts: {
  kit: ConsoleKit
  frames: Frames
  config: Config
  origins: Origins | undefined
}) {
  const { kit, frames, config, origins } = parts
  const rows = describeConfig(config, origins ?? new Map())
  return new Elysia({ name: 'configuration page', detail: { hide: true } }).use(kit).get(
    '/console/admin/configuration',
    ({ request, visitor }) => {
      const asked = new URL(request.url).searchParams
      const children = ConfigurationPage({
        base: frames.base(),
        rows,
        hasOrigins: origins !== undefined,
        q: asked.get('q')?.trim() ?? '',
        isSetOnly: asked.get('set') === 'true',
      })
      const title = 'Configuration'
      return frames.page({ request, visitor, title, active: 'configuration', children })
    },
    { instance: true },
  )
}
