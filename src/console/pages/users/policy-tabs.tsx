import { Tabs } from '../../../../views/ui/tabs.tsx'
import { usePage } from '../../page.tsx'

/** Tabs: policies and decisions. */
export function PolicyTabs({ current }: { current: 'policies' | 'decisions' }) {
  const { href } = usePage()
  return (
    <Tabs
      label="Views"
      tabs={[
        { label: 'Policies', href: href('/policies'), isCurrent: current === 'policies' },
        {
          label: 'Decisions',
          href: href('/policies/decisions'),
          isCurrent: current === 'decisions',
        },
      ]}
    />
  )
}
