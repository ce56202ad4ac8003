import { Tabs } from '../../../../views/ui/tabs.tsx'
import { usePage } from '../../page.tsx'

const TABS = {
  general: { label: 'General', path: '/settings' },
  branding: { label: 'Branding', path: '/settings/branding' },
  security: { label: 'Sessions and passwords', path: '/settings/security' },
  notifications: { label: 'Notifications', path: '/settings/notifications' },
  manifest: { label: 'Configuration as code', path: '/settings/manifest' },
  data: { label: 'Export and delete', path: '/settings/data' },
} as const

const OF_OWNERS = new Set(['manifest', 'data'])

/** Links between the pages of a tenant's settings. */
export function SettingsTabs({ current }: { current: keyof typeof TABS }) {
  const { href, may } = usePage()
  return (
    <Tabs
      label="Settings"
      tabs={Object.entries(TABS)
        .filter(([name]) => !OF_OWNERS.has(name) || may('settings'))
        .map(([name, { label, path }]) => ({
          label,
          href: href(path),
          isCurrent: name === current,
        }))}
    />
  )
}
