import { Tabs } from '../../../tabs.tsx'
import { url } from '../../../url.ts'
import { DECISIONS, POLICIES } from './state.ts'

/** Tabs: policies and decisions. */
export const Views = ({ base, current }: { base: string; current: 'policies' | 'decisions' }) => (
  <Tabs
    label="Views"
    tabs={[
      { label: 'Policies', href: url(base, POLICIES), isCurrent: current === 'policies' },
      { label: 'Decisions', href: url(base, DECISIONS), isCurrent: current === 'decisions' },
    ]}
  />
)
