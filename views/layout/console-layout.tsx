import { Banner } from '../ui/banner.tsx'
import { shorten } from '../ui/text.tsx'
import { ConsoleDocument } from './document.tsx'
import { OutdatedSlot } from './live.tsx'
import type { LayoutProps } from './model.ts'
import { Palette, Shortcuts } from './palette.tsx'
import { Sidebar } from './sidebar.tsx'
import { Toasts } from './toast.tsx'
import { Topbar } from './topbar.tsx'

/** Page layout of the console: sidebar, top bar, banners, content and toasts. */
export const ConsoleLayout = (layout: LayoutProps) => (
  <ConsoleDocument
    base={layout.base}
    title={windowTitle(layout)}
    theme={layout.theme}
    style={layout.environment === 'test' ? 'console testdata' : 'console'}
    address={layout.address}
  >
    <a class="skip" href="#content">
      Skip to content
    </a>
    <div id="progress" class="progress" aria-hidden="true" />
    <Sidebar {...layout} />
    <div class="stage">
      <Topbar {...layout} />
      <OutdatedSlot />
      {layout.banners?.map((banner) => (
        <Banner {...banner} />
      ))}
      <main id="content" tabindex={-1}>
        {layout.children}
      </main>
    </div>
    <Toasts flash={layout.flash} />
    <Palette {...layout} />
    <Shortcuts />
  </ConsoleDocument>
)

/** The page, the page above it, and the tenant: lists and objects of the same name differ. */
function windowTitle({ title, crumbs, scope }: LayoutProps): string {
  const above = crumbs.at(-2)
  const names = [shorten(title), above && shorten(above.label, 48), shorten(scope.name, 48)]
  return names.filter(Boolean).join(' · ')
}
