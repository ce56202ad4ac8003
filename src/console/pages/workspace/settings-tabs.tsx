import { Tabs } from '../../../../views/ui/tabs.tsx'
import { usePage } from '../../page.tsx'

const TABS = {
  general: { label: 'General', path: '/settings' },
  branding: { label: 'Branding', path: '/settings/branding' },
  security: { label: 'Sessions and passwords', path: '/settings/security' },
  notifications: { label: 'Notifications', path: '/settings/notifications' },
  data: { label: 'Export and delete', path: '/settings/data' },
} as const

/** Links between the pages of a tenant's settings. */
export function SettingsTabs({ current }: { current: keyof typeof TABS }) {
  const { href, may } = usePage()
  return (
    <Tabs
      label="Settings"
      tabs={Object.entries(TABS)
        .filter(([name]) => name !== 'data' || may('settings'))
        .map(([name, { label, path }]) => ({
          label,
          href: href(path),
          isCurrent: name === current,
        }))}
    />
  )
}
