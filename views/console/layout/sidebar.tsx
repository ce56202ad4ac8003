import { Icon } from '../icons.tsx'
import type { LayoutProps } from './model.ts'
import { navigationOf, PAGES, type PageKey } from './navigation.ts'
import { Switcher } from './switcher.tsx'

/** Sidebar navigation. Under 900 px it is a popover, which needs no script. */
export const Sidebar = (layout: LayoutProps) => (
  <div class="sidebar" id="sidebar" popover="auto">
    <div class="sidebar-body">
      <Switcher {...layout} />
      <nav aria-label="Console">
        {navigationOf(layout.scope.kind, layout.hiddenPages).map(({ title, pages }) => (
          <div class="navgroup">
            {title && <h2>{title}</h2>}
            <ul>
              {pages.map((key) => (
                <Entry page={key} href={layout.href} isActive={key === layout.active} />
              ))}
            </ul>
          </div>
        ))}
      </nav>
    </div>
  </div>
)

const Entry = (entry: { page: PageKey; href: LayoutProps['href']; isActive: boolean }) => {
  const { label, path, icon } = PAGES[entry.page]
  return (
    <li>
      <a href={entry.href(path)} aria-current={entry.isActive ? 'page' : undefined}>
        <Icon name={icon} />
        <span>{label}</span>
      </a>
    </li>
  )
}
